// judge.mjs DIR [PYTHON] has compilers read what the command typedecl wrote into DIR:
// the modules must be clean under the strictest settings, every valid literal must have
// its type, and no broken one may. PYTHON is an interpreter that has the package mcp;
// without one the Python modules are left out. TENON_EXTENDED is not set: of Python only
// the smallest description, since pyright takes its time.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

const [dir, python] = process.argv.slice(2);
const here = import.meta.dirname;
const counts = JSON.parse(fs.readFileSync(path.join(dir, "counts.json"), "utf8"));
let failed = 0;

function run(command, args) {
  try {
    return execFileSync(command, args, { cwd: dir, encoding: "utf8", maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "inherit"] });
  } catch (error) {
    if (typeof error.stdout !== "string") throw error;
    return error.stdout; // the compilers end with an error where they find one
  }
}

// errors are the messages by file and line, lines from 1.
function typescript() {
  const link = path.join(dir, "node_modules");
  if (!fs.existsSync(link)) fs.symlinkSync(path.join(here, "node_modules"), link);
  fs.writeFileSync(path.join(dir, "package.json"), '{"type":"module"}');
  fs.writeFileSync(
    path.join(dir, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { strict: true, noImplicitOverride: true, noUncheckedIndexedAccess: true, noEmit: true, target: "es2022", module: "nodenext", types: ["node"], skipLibCheck: true }, include: ["*.ts"] }),
  );
  const errors = {};
  const out = run("node", [path.join(here, "node_modules/typescript/bin/tsc"), "-p", ".", "--pretty", "false"]);
  for (const line of out.split("\n")) {
    const found = line.match(/^([^( ]+\.ts)\((\d+),\d+\): error (.*)/);
    if (found) (errors[found[1]] ??= {})[found[2]] ??= found[3];
    else if (/error TS/.test(line)) (errors["tsc"] ??= {})[line] = line;
  }
  return errors;
}

function pyright(names) {
  const include = ["tenon_runtime.py", ...names.flatMap((name) => [`${name}.py`, `${name}_good.py`, `${name}_bad.py`])];
  fs.writeFileSync(path.join(dir, "pyrightconfig.json"), JSON.stringify({ typeCheckingMode: "strict", include }));
  const out = run("node", [path.join(here, "node_modules/pyright/index.js"), "--pythonpath", python, "--outputjson", "-p", "."]);
  const errors = {};
  const read = JSON.parse(out);
  if (!read.summary.filesAnalyzed) throw new Error("pyright read nothing");
  for (const one of read.generalDiagnostics) {
    if (one.severity === "error") (errors[path.basename(one.file)] ??= {})[one.range.start.line + 1] ??= one.message;
  }
  return errors;
}

function check(language, ext, begin, names, errors) {
  const sum = { good: 0, bad: 0, tools: 0 };
  for (const name of names) {
    const n = counts[name];
    const lines = fs.readFileSync(path.join(dir, `${name}_bad${ext}`), "utf8").split("\n");
    const bad = lines.map((line, i) => [i + 1, line]).filter(([, line]) => line.startsWith(begin));
    if (bad.length !== n.bad) throw new Error(`${name}: ${bad.length} broken literals of ${n.bad}`);
    const refused = errors[`${name}_bad${ext}`] ?? {};
    for (const [i, line] of bad) {
      if (!refused[i]) fail(`${language}: ${name}: this is broken and has its type: ${line.slice(0, 300)}`);
    }
    delete errors[`${name}_bad${ext}`];
    sum.good += n.good;
    sum.bad += n.bad;
    sum.tools += n.tools;
  }
  for (const [file, lines] of Object.entries(errors)) {
    for (const [line, message] of Object.entries(lines)) fail(`${language}: ${file}:${line}: ${message.slice(0, 400)}`);
  }
  console.log(`ok ${language}: ${sum.tools} tools of ${names.length} description${names.length > 1 ? "s" : ""}; ${sum.good} valid literals have their type, ${sum.bad} broken ones do not`);
}

function fail(message) {
  if (failed++ < 20) console.log("FAIL", message);
}

const all = Object.keys(counts);
check("TypeScript", ".ts", "export const", all, typescript());
const size = (name) => fs.statSync(path.join(dir, `${name}.py`)).size;
const some = process.env.TENON_EXTENDED ? all : all.sort((a, b) => size(a) - size(b)).slice(0, 1);
if (python) check("Python", ".py", "v", some, pyright(some));
else console.log("left out: Python");
if (failed) {
  console.log(`${failed} failures`);
  process.exit(1);
}
