// constructs.mjs TYPEDECL [--write] compares what three generators of TypeScript make of
// the schemas in cases.json: does a value that the schema
// accepts have the type (else it is unsound), does one that it refuses not (else it is
// loose), does the module compile at all? The table is that of docs/types.md: with
// --write it is replaced, else it must be the same. TYPEDECL is the command of this folder.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { compile } from "json-schema-to-typescript";

const here = import.meta.dirname;
const [typedecl, write] = process.argv.slice(2);
const cases = JSON.parse(fs.readFileSync(path.join(here, "cases.json"), "utf8"));
const ours = JSON.parse(execFileSync(typedecl, ["-cases", path.join(here, "cases.json")], { encoding: "utf8" }));
// Its entry needs a runtime of its maker; the renderer alone does not.
const dist = path.join(here, "node_modules/@cloudflare/codemode/dist");
const renderer = await import(path.join(dist, fs.readdirSync(dist).find((name) => /^json-schema-types-.*\.js$/.test(name))));
const cloudflare = Object.values(renderer).find((f) => f.name === "jsonSchemaToType");
const dir = fs.mkdtempSync(path.join(os.tmpdir(), "constructs-"));
fs.symlinkSync(path.join(here, "node_modules"), path.join(dir, "node_modules"));

const generators = {
  tenon: (c) => ours[c.name].ts.replace(/import type .*\n/, "").replace(/export function[^]*?\n}\n/g, "") + "\ntype T = TData;",
  "json-schema-to-typescript": async (c) =>
    (await compile(structuredClone(c.schema), "T", { bannerComment: "", format: false, additionalProperties: true, unreachableDefinitions: false })).replaceAll("export ", ""),
  "@cloudflare/codemode": (c) => cloudflare(structuredClone(c.schema), "T"),
};

const files = new Map(); // by name: which generator, case, kind
async function typescript() {
  for (const [g, make] of Object.entries(generators)) {
    for (const [i, c] of cases.entries()) {
      let text;
      try {
        text = await make(c);
      } catch (error) {
        text = `syntax error: ${String(error).split("\n")[0]}`;
      }
      for (const kind of ["good", "bad"]) {
        for (const [k, value] of c[kind].entries()) {
          const name = `c${files.size}.ts`;
          files.set(name, [g, i, kind]);
          fs.writeFileSync(path.join(dir, name), `export {};\n${text}\nexport const value: T = ${JSON.stringify(value)};\n`);
        }
      }
    }
  }
  fs.writeFileSync(path.join(dir, "tsconfig.json"), JSON.stringify({ compilerOptions: { strict: true, noEmit: true, target: "es2022", module: "nodenext", types: [], skipLibCheck: true }, include: ["*.ts"] }));
  // An error of syntax anywhere keeps the compiler from looking at types, so that such
  // files are taken out, and it looks again.
  const errors = {};
  for (;;) {
    let out = "";
    try {
      execFileSync("node", [path.join(here, "node_modules/typescript/bin/tsc"), "-p", dir, "--pretty", "false"], { encoding: "utf8", cwd: dir, maxBuffer: 1 << 28 });
    } catch (error) {
      out = error.stdout;
    }
    const found = [...out.matchAll(/(c\d+\.ts)\((\d+),\d+\): error (TS\d+)/g)];
    const broken = new Set(found.filter(([, , , code]) => /^TS1\d{3}$/.test(code)).map(([, name]) => name));
    if (broken.size === 0 && out.includes("error TS") && found.length === 0) throw new Error(out);
    for (const [, name, line] of found) {
      if (broken.size > 0 && !broken.has(name)) continue;
      const last = fs.readFileSync(path.join(dir, name), "utf8").split("\n").length - 1;
      (errors[name] ??= []).push(Number(line) === last && !broken.has(name) ? "value" : "module");
    }
    if (broken.size === 0) return errors;
    for (const name of broken) fs.rmSync(path.join(dir, name));
  }
}

const errors = await typescript();
const cell = (g, i) => {
  const of = (kind) => [...files].filter(([, [gg, ii, k]]) => gg === g && ii === i && k === kind).map(([name]) => errors[name] ?? []);
  const [good, bad] = [of("good"), of("bad")];
  if ([...good, ...bad].some((e) => e.includes("module"))) return "does not compile";
  const refused = good.filter((e) => e.length).length;
  const passed = bad.filter((e) => !e.length).length;
  if (refused) return `unsound: ${refused} of ${good.length} valid values refused`;
  return passed ? `loose: ${passed} of ${bad.length} invalid values accepted` : "right";
};
const names = Object.keys(generators);
const rows = cases.map((c, i) => [c.name, ...names.map((g) => cell(g, i))]);
const right = ["right of " + rows.length, ...names.map((_, k) => String(rows.filter((r) => r[k + 1] === "right").length))];
const table = [["construct", ...names], ["---", ...names.map(() => "---")], ...rows, right].map((r) => `| ${r.join(" | ")} |`).join("\n");
fs.rmSync(dir, { recursive: true });

const page = path.join(here, "../../docs/types.md");
const text = fs.readFileSync(page, "utf8");
const [begin, end] = ["<!-- constructs -->\n", "\n<!-- end -->"];
const from = text.indexOf(begin) + begin.length;
const now = text.slice(from, text.indexOf(end));
if (write === "--write") {
  fs.writeFileSync(page, text.slice(0, from) + table + text.slice(text.indexOf(end)));
} else if (now !== table) {
  console.log("FAIL docs/types.md has another table than this:\n" + table);
  process.exit(1);
}
console.log(`ok constructs: ${names.map((g, k) => `${g} ${right[k + 1]}`).join(", ")} of ${rows.length} right`);
if (right[1] !== String(rows.length)) process.exit(1);
