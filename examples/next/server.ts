import { createHost } from 'coxswain';
import { createHttp } from 'coxswain/server/http';
import { openSqlite } from 'coxswain/stores/sqlite';
import { agent, policy, tools } from './agent.ts';

/** Who a page may be of. An application has its login here. */
const people = new Map([
  ['anna', { id: 'anna' }],
  ['bert', { id: 'bert', roles: ['supervisor'] }],
]);

/** Whom a request's cookies name. */
export const personOf = (cookie: string | null | undefined) =>
  people.get(/(?:^|; )person=(\w+)/.exec(cookie ?? '')?.[1] ?? 'anna');

/** Where the application is reached: pages of other origins may not ask the agent for anything. */
const origin = process.env.ORIGIN ?? `http://localhost:${process.env.PORT ?? 3000}`;

async function begin() {
  const store = await openSqlite(process.env.STORE ?? 'chat.db');
  const host = createHost({ app: 'shop', agents: [agent], tools, policy, store });
  return createHttp(host, {
    basePath: '/agents',
    authenticate: ({ headers }) => personOf(headers.cookie),
    allowedOrigins: [origin],
  });
}

/** One host a process: Next.js loads this module once for its routes and once for its pages, and anew after a change. */
const place = globalThis as { agents?: ReturnType<typeof begin> };

/** Answers requests below `/agents`. */
export async function agents(request: Request): Promise<Response> {
  place.agents ??= begin();
  const handler = await place.agents;
  return handler(request);
}

/** Messages of a chat as its page shows them, for whom the cookies name; none of a chat that nobody has begun yet. */
export async function messagesOf(chat: string, cookie: string): Promise<unknown[]> {
  const url = `${origin}/agents/v1/agents/clerk/chat/${encodeURIComponent(chat)}`;
  const response = await agents(new Request(url, { headers: { cookie } }));
  if (response.status === 404) return [];
  if (!response.ok) throw new Error(await response.text());
  const { messages } = (await response.json()) as { messages: unknown[] };
  return messages;
}
