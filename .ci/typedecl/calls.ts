// calls.ts calls tools of the demo by the functions that 'tenon types' wrote of it, and
// looks at what comes: calls.js URL.
import assert from "node:assert/strict";
import * as shop from "./shop.js";
import { Server, ToolError } from "./tenon_runtime.js";

async function failure(call: Promise<unknown>): Promise<ToolError> {
  try {
    await call;
  } catch (error) {
    assert(error instanceof ToolError, String(error));
    return error;
  }
  return assert.fail("the call did not fail");
}

const url = process.argv[2] ?? "";
const server = await Server.connect({ url });

const page = await shop.listBooks(server, { limit: 2 });
const first = page.items[0];
assert(first !== undefined && page.items.length === 2);
const book = await shop.getBook(server, { bookId: first.id });
assert.equal(book.title, first.title);

const missing = await failure(shop.getBook(server, { bookId: "b9999" }));
assert.deepEqual([missing.tool, missing.code, missing.executed, missing.retry, missing.status], ["getBook", "not_found", "yes", "safe", 404]);

const wrong = await failure(shop.listBooks(server, { limit: "many" as unknown as number }));
assert.deepEqual([wrong.code, wrong.executed, wrong.retry], ["validation_error", "no", "safe"]);

const unasked = await failure(shop.deleteBook(server, { bookId: first.id }));
assert.deepEqual([unasked.code, unasked.executed], ["confirmation_required", "no"]);

const absent = await failure(server.call("noSuchTool", {}, ""));
assert.deepEqual([absent.code, absent.executed, absent.retry], ["not_found", "no", "safe"]);
await server.close();

// A stock whose answer violates its schema.
const strict = await Server.connect({ url });
const violated = await failure(shop.getStock(strict, { bookId: "b1007" }));
assert.deepEqual([violated.code, violated.executed, violated.retry], ["contract_violation", "yes", "safe"]);
await strict.close();
const lenient = await Server.connect({ url }, { violations: "deliver" });
assert.deepEqual(await shop.getStock(lenient, { bookId: "b1007" }), violated.data);
await lenient.close();

// A person who is asked, and agrees.
const questions: string[] = [];
const asking = await Server.connect({ url }, { confirm: (message) => questions.push(message) > 0 });
await shop.deleteBook(asking, { bookId: first.id });
assert.equal(questions.length, 1);
assert.equal((await failure(shop.getBook(asking, { bookId: first.id }))).code, "not_found");
await asking.close();
console.log("ok TypeScript: the functions call");
