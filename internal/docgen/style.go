package docgen

// style is the style sheet of a page.
const style = `:root { color-scheme: light dark; --ink: light-dark(#1c2126, #e4e7ea); --soft: light-dark(#5b6670, #9aa5af); --line: light-dark(#dfe3e7, #333a41); --paper: light-dark(#fff, #15181b); --tint: light-dark(#f5f7f9, #1d2125); --mark: light-dark(#0b5fb0, #6fb3f2); }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); display: grid; grid-template-columns: minmax(12rem, 17rem) minmax(0, 1fr); }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1.2rem 1rem; border-right: 1px solid var(--line); background: var(--tint); }
nav b { display: block; margin-bottom: .8rem; }
nav a { display: block; padding: .12rem 0; font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
nav h4 { margin: .8rem 0 .2rem; font-size: 12px; color: var(--soft); overflow-wrap: anywhere; }
nav input { width: 100%; margin-bottom: .6rem; padding: .3rem .5rem; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: 4px; }
[hidden] { display: none !important; }
.group { margin-top: 2.4rem; font: 600 1.35rem/1.3 system-ui, sans-serif; }
main { padding: 1.5rem clamp(1rem, 4vw, 3rem) 6rem; max-width: 70rem; }
a { color: var(--mark); text-decoration: none; } a:hover { text-decoration: underline; }
h1 { margin: 0 0 .2rem; font-size: 1.7rem; }
article { border-top: 1px solid var(--line); margin-top: 2.2rem; padding-top: 1.4rem; scroll-margin-top: .5rem; content-visibility: auto; contain-intrinsic-size: auto 60rem; }
h2 { margin: 0; font: 600 1.2rem/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
h3 { margin: 1.4rem 0 .4rem; font-size: 1rem; }
.title { font-weight: 600; margin: .1rem 0 .5rem; }
.notes { color: var(--soft); }
p { white-space: pre-line; margin: .5rem 0; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: left; font-weight: 600; color: var(--soft); }
th, td { padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td:first-child { font-family: ui-monospace, monospace; font-size: 13px; min-width: 9rem; overflow-wrap: anywhere; }
td:nth-child(2) { min-width: 7rem; color: var(--soft); }
code, pre { font: 13px/1.5 ui-monospace, monospace; background: var(--tint); border-radius: 4px; }
code { padding: .05rem .3rem; overflow-wrap: anywhere; } pre { padding: .8rem; overflow: auto; max-height: 30rem; margin: .4rem 0; border: 1px solid var(--line); }
.must { color: light-dark(#b3261e, #f2988f); font-size: 12px; }
.media { color: var(--soft); font-weight: 400; font-size: 14px; }
@media (max-width: 720px) { body { display: block; } nav { position: static; height: auto; max-height: 40vh; border-right: 0; border-bottom: 1px solid var(--line); } }
@media print { nav { display: none; } body { display: block; } }`
