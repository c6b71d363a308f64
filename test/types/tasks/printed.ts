/** The programs, and what each prints. */
export const printed: Readonly<Record<string, readonly string[]>> = {
  '1-tool.ts': ['It says a. []'],
  '2-agent.ts': ['HELLO'],
  '3-host.ts': ['I pay.', '', 'Paid. [ 300 ]'],
  '4-stream.ts': ['I pay.', 'input_required'],
  '5-approve.ts': ['Paid. [ 300 ]', 'pay { amount: 300 } for local', "[ 'pay' ] [ 300 ]"],
  '6-persist.ts': ['input_required', 'pay is open'],
  '7-serve.ts': ['input_required pay ann'],
  '8-mcp.ts': ['It is 7, I am told. []'],
  '9-policy.ts': ["[ 'pay' ] 0 []", '[] 1 []'],
  '10-test.ts': ['passed'],
};
