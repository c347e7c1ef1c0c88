// What the page's clients live through, and what comes of it. `says` is what a
// person answers when asked; `throws` is how the message of an exception
// begins, `code` what Python puts behind it.

export const scenes = [
  { title: 'success', tool: 'status_200', data: { id: 7, name: 'so <be> it' } },
  ...[
    [400, 'Bad Request', 'validation_error'], [401, 'Unauthorized', 'authentication_error'], [403, 'Forbidden', 'authorization_error'],
    [404, 'Not Found', 'not_found'], [409, 'Conflict', 'conflict'], [418, "I'm a teapot", 'request_error'],
    [429, 'Too Many Requests', 'rate_limited'], [500, 'Internal Server Error', 'server_error'], [504, 'Gateway Timeout', 'timeout'],
  ].map(([status, text, code]) => ({ title: code, tool: `status_${status}`, throws: `API error: HTTP ${status} ${text}: it said so`, code })),
  { title: 'validation_error of an argument', tool: 'status_200', args: { nobody: 'knows' }, throws: 'API error: Invalid arguments: ', code: 'validation_error' },
  { title: 'contract_violation', tool: 'breach', throws: 'API error: The response of breach violates its schema: ', code: 'contract_violation' },
  { title: 'network_error', tool: 'break', throws: 'API error: ', code: 'network_error' },
  { title: 'an unknown tool', tool: 'nobody', throws: 'RPC error: unknown tool "nobody"' },
  { title: 'confirmation declined', tool: 'make', says: false, throws: 'Operation cancelled', made: 0 },
  { title: 'confirmation accepted', tool: 'make', says: true, data: { id: 1 }, made: 1 },
  { title: 'a partial answer and its continuation', tool: 'rows', parts: true },
]
