/** Where the model is; read when a turn needs it, so that importing an executor asks for nothing. */
export function setting(name: 'CHAT_COMPLETIONS_ENDPOINT' | 'API_KEY' | 'MODEL_ID'): string {
  const value = process.env[name];
  if (!value) throw new Error(`set ${name}`);
  return value;
}
