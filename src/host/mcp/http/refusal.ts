/** An error of the protocol as the answer of HTTP. */
export function refusedResponse(
  status: number,
  code: number,
  message: string,
  headers?: Record<string, string>,
): Response {
  return Response.json(
    { jsonrpc: '2.0', error: { code, message }, id: null },
    { status, ...(headers ? { headers } : {}) },
  );
}
