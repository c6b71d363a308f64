import { PROTOCOL_VERSION } from '../../contracts/index.ts';
import { apiSchemas, queryParameters, refTo } from './api-schemas.ts';
import type { Route } from './routes.ts';
import { routes } from './routes.ts';

/** The OpenAPI 3.1 document of all routes: from their table, and the contracts. */
export async function openApi(basePath: string): Promise<object> {
  const paths = Object.entries(routes).map(([path, methods]) => [
    path,
    Object.fromEntries(methods.map((route) => [route.method.toLowerCase(), operationOf(path, route)])),
  ]);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Coxswain sessions',
      version: PROTOCOL_VERSION,
      description: 'Sessions of agents over plain HTTP and event streams. What each error code means: docs/errors.md.',
    },
    ...(basePath === '' ? {} : { servers: [{ url: basePath }] }),
    security: [{ bearer: [] }],
    paths: Object.fromEntries(paths),
    components: {
      schemas: await apiSchemas(),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
  };
}

const made = new Map<string, Promise<string>>();

export function openApiText(basePath: string): Promise<string> {
  const known = made.get(basePath) ?? openApi(basePath).then((document) => `${JSON.stringify(document, null, 1)}\n`);
  made.set(basePath, known);
  return known;
}

function operationOf(path: string, route: Route): object {
  const [status, schema] = route.gives;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inQuery = route.query.map((name) => ({ name, in: 'query', ...queryParameters[name] }));
  const inHeaders = [
    ...(route.method === 'GET' ? [] : [header('Idempotency-Key', 'Sent again with the same body, it is done once.')]),
    ...(route.query.includes('history')
      ? [header('Last-Event-ID', 'Id of the newest event that the client has.')]
      : []),
  ];
  return {
    operationId: nameOf(path, route.method),
    summary: route.says,
    parameters: [...inPath, ...inQuery, ...inHeaders],
    ...(route.method === 'POST'
      ? { requestBody: { required: route.takes !== undefined, content: jsonOf(route.takes ?? 'Nothing') } }
      : {}),
    responses: {
      [status]: { description: route.says, content: { ...jsonOf(schema), ...(status === 200 ? eventsOf(route) : {}) } },
      ...(status === 202 && route.events ? { 200: { description: 'Its events.', content: eventsOf(route) } } : {}),
      default: { description: 'It is refused.', content: jsonOf('Error') },
    },
  };
}

function header(name: string, description: string): object {
  return { name, in: 'header', description, schema: { type: 'string' } };
}

function jsonOf(schema: string): object {
  return { 'application/json': { schema: refTo(schema) } };
}

/** The schema is that of the data of each event. */
function eventsOf({ events }: Route): object {
  return events === undefined ? {} : { 'text/event-stream': { schema: refTo(events) } };
}

/** `POST /v1/agents/{agent}/sessions` → `postAgentsSessions` */
function nameOf(path: string, method: string): string {
  const words = path.replace(/\{\w+\}/g, (word) => `by${word.slice(1, 2).toUpperCase()}${word.slice(2, -1)}`);
  const [, , ...parts] = words.split('/');
  return method.toLowerCase() + parts.map((part) => part.slice(0, 1).toUpperCase() + part.slice(1)).join('');
}
