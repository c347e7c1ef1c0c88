// Runtime of the functions that 'tenon types' writes: it calls tools of any MCP server
// through the official client. Needs @modelcontextprotocol/sdk 1.20 or later.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport, getDefaultEnvironment } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, McpError } from "@modelcontextprotocol/sdk/types.js";

/** Why a call failed. tenon's codes; other servers, and authors of tools, have codes of their own. */
export type ErrorCode =
  | "validation_error"
  | "authentication_error"
  | "authorization_error"
  | "not_found"
  | "conflict"
  | "rate_limited"
  | "timeout"
  | "request_error"
  | "server_error"
  | "network_error"
  | "contract_violation"
  | "internal_error"
  /** The call needs the consent of a person, and Options.confirm is not set. */
  | "confirmation_required"
  /** The result has several parts: ask for less, or raise the server's limit. */
  | "partial_result"
  /** The server says only that the tool failed. */
  | "tool_error"
  | (string & {});

/** A call that failed. */
export class ToolError extends Error {
  override readonly name = "ToolError";
  constructor(
    /** Name of the tool. */
    readonly tool: string,
    readonly code: ErrorCode,
    message: string,
    /** Whether the call was executed. */
    readonly executed: "no" | "yes" | "unknown",
    /** Whether the same call can be repeated without a further effect. */
    readonly retry: "safe" | "unsafe",
    /** Status of the upstream's response, if there was one. */
    readonly status?: number,
    /** What came instead of the data, if anything did. */
    readonly data?: unknown,
  ) {
    super(message);
  }
}

export type Target =
  | { url: string; headers?: Record<string, string> }
  | { command: string; args?: string[]; env?: Record<string, string>; cwd?: string };

export interface Options {
  /** Milliseconds that a call can take; default 60,000. */
  timeout?: number;
  /** What becomes of data that the server reports as violating its schema: an error (the default), or it is returned. */
  violations?: "throw" | "deliver";
  /** Asks a person whether a call that changes something shall be made. */
  confirm?: (message: string, tool: string) => boolean | Promise<boolean>;
}

interface Result {
  content?: unknown;
  structuredContent?: unknown;
  isError?: unknown;
  _meta?: unknown;
}

type Json = { [key: string]: unknown };

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
const member = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);

/** The MCP server that functions call. */
export class Server {
  constructor(
    readonly client: Client,
    private readonly options: Options = {},
  ) {}

  /** Connects to a server at a URL, or starts a command that is one. */
  static async connect(target: Target, options: Options = {}): Promise<Server> {
    const client = new Client({ name: "tenon-types", version: "1" }, { capabilities: options.confirm ? { elicitation: {} } : {} });
    const server = new Server(client, options);
    if (options.confirm) {
      client.setRequestHandler(ElicitRequestSchema, async (request) => {
        const agreed = await options.confirm?.(request.params.message, "");
        return agreed ? { action: "accept" as const, content: { confirm: true } } : { action: "decline" as const };
      });
    }
    const transport =
      "url" in target
        ? new StreamableHTTPClientTransport(new URL(target.url), { requestInit: { headers: target.headers ?? {} } })
        : new StdioClientTransport({ ...target, env: { ...getDefaultEnvironment(), ...target.env } });
    await client.connect(transport as Parameters<Client["connect"]>[0]);
    return server;
  }

  close(): Promise<void> {
    return this.client.close();
  }

  /**
   * Calls a tool and returns its data: structuredContent, or the member of it that is
   * named. null: the tool declares none, and the content blocks stand in for it.
   */
  async call<T>(tool: string, args: unknown, member: string | null): Promise<T> {
    let result = await this.send(tool, args);
    const asks = confirmation(result);
    if (asks !== undefined && this.options.confirm && (await this.options.confirm(asks, tool))) {
      result = await this.send(tool, { ...(isObject(args) ? args : {}), __confirmed: true });
    }
    return data(tool, result, member, this.options) as T;
  }

  private async send(tool: string, args: unknown): Promise<Result> {
    try {
      const given = isObject(args) ? args : {};
      return await this.client.callTool({ name: tool, arguments: given }, undefined, { timeout: this.options.timeout ?? 60_000 });
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      const unsent = error.code === -32601 || error.code === -32602;
      const code = unsent ? "not_found" : error.code === -32001 ? "timeout" : error.code === -32000 ? "network_error" : "internal_error";
      throw new ToolError(tool, code, error.message, unsent ? "no" : "unknown", unsent ? "safe" : "unsafe");
    }
  }
}

/** The question of a server that asks the caller to confirm: in its data, or in a text. */
function confirmation(result: Result): string | undefined {
  const asked: unknown[] = [result.structuredContent];
  if (result.structuredContent === undefined) {
    for (const text of texts(result)) {
      if (!text.startsWith("{")) continue;
      try {
        asked.push(JSON.parse(text));
      } catch {
        // not JSON
      }
    }
  }
  const question = asked.find((one) => member(one, "confirmation_required") === true);
  const message = member(question, "message");
  return typeof message === "string" ? message : undefined;
}

function texts(result: Result): string[] {
  const blocks: unknown[] = Array.isArray(result.content) ? result.content : [];
  return blocks.map((block) => member(block, "text")).filter((part) => typeof part === "string");
}

function data(tool: string, result: Result, name: string | null, options: Options): unknown {
  const contract = member(result._meta, "tenon/contract");
  const executed = member(contract, "executed");
  const status = member(contract, "status");
  const structured = result.structuredContent;
  const fail = (code: ErrorCode, message: string, came?: unknown): ToolError =>
    new ToolError(
      tool,
      code,
      message,
      executed === "no" || executed === "yes" ? executed : "unknown",
      member(contract, "retry") === "safe" ? "safe" : "unsafe",
      typeof status === "number" ? status : undefined,
      came,
    );
  const asks = confirmation(result);
  if (asks !== undefined) return raise(new ToolError(tool, "confirmation_required", asks, "no", "safe"));
  if (result.isError === true) {
    const error = member(structured, "error");
    const codes = [member(contract, "code"), member(error, "code")];
    const message = member(error, "message");
    return raise(fail(codes.find((code) => typeof code === "string") ?? "tool_error", typeof message === "string" ? message : texts(result).join("\n"), structured ?? result.content));
  }
  if (member(result._meta, "tenon/partial") !== undefined) {
    return raise(fail("partial_result", "The result has several parts: ask for less, or raise the server's limit (--max-result-bytes)", structured));
  }
  if (name === null) return structured ?? result.content;
  const value = name === "" ? structured : member(structured, name);
  if (value === undefined) return raise(fail("contract_violation", `The result of ${tool} has no structured data`, structured ?? result.content));
  const verdict = member(contract, "verdict");
  if (options.violations !== "deliver" && (verdict === "violated" || verdict === "undeclared")) {
    return raise(fail("contract_violation", `The data of ${tool} violates its schema: ${violations(contract)}`, value));
  }
  return value;
}

function violations(contract: unknown): string {
  const list = member(contract, "violations");
  const all: unknown[] = Array.isArray(list) ? list : [];
  return all.map((v) => `${String(member(v, "path"))}: expected ${String(member(v, "expected"))}, got ${String(member(v, "got"))}`).join("; ");
}

function raise(error: ToolError): never {
  throw error;
}
