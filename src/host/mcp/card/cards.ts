import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import type { Principal, ReportedRequest } from '../../../contracts/index.ts';
import { isCoxswainError } from '../../../contracts/index.ts';
import { nameOfPrincipal } from '../../../session/index.ts';
import type { AgentHost } from '../../index.ts';
import type { AgentTool, loadServerSdk } from '../turn/index.ts';
import { aroundHandler, CARD_TYPE, isCardUri, placeOfCard } from '../wire/index.ts';
import { cardHtml } from './card-html.ts';

/** Nothing from anywhere: a client takes what is left out for something of its own. */
const UI = {
  csp: { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] },
  prefersBorder: true,
};

/** What cards need of the server that they are of. */
export interface CardsFrame {
  readonly host: AgentHost;
  readonly sdk: Awaited<ReturnType<typeof loadServerSdk>>;
  readonly tools: readonly AgentTool[];
  principalOf(context: ServerContext): Principal | undefined;
  /** Whether the client shows cards. */
  isShown(server: McpServer, context: ServerContext): boolean;
}

/** Calls that wait for an approval, as resources of MCP Apps: to look at, never to answer. */
export class Cards {
  readonly #frame: CardsFrame;

  constructor(frame: CardsFrame) {
    this.#frame = frame;
  }

  /**
   * Serves them on one server, before resources are registered. `finish` is for when all are: clients must find that there are
   * resources, if nobody else has any.
   */
  serve(server: McpServer): { finish(): void } {
    const read = async ({ params }: { params: Record<string, unknown> }, context: ServerContext) => {
      const { uri } = params;
      const request = this.#frame.isShown(server, context) ? await this.#request(String(uri), context) : undefined;
      // Of somebody else, answered, or never asked: it is one and the same.
      if (!request) throw new this.#frame.sdk.ResourceNotFoundError(String(uri));
      const contents = [{ uri: String(uri), mimeType: CARD_TYPE, text: cardHtml(request), _meta: { ui: UI } }];
      return { contents };
    };
    const isSet = aroundHandler(server, 'resources/read', (request, context, next) =>
      isCardUri(request.params.uri) ? read(request, context) : next(request, context),
    );
    return {
      finish: () => {
        if (isSet()) return;
        server.server.registerCapabilities({ resources: {} });
        server.server.setRequestHandler('resources/list', () => ({ resources: [] }));
        server.server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
        server.server.setRequestHandler('resources/read', ({ params: { uri } }) => {
          throw new this.#frame.sdk.ResourceNotFoundError(uri);
        });
      },
    };
  }

  async #request(uri: string, context: ServerContext): Promise<ReportedRequest | undefined> {
    const place = placeOfCard(uri);
    if (!place || !this.#frame.tools.some(({ agent }) => agent.name === place.agent)) return undefined;
    const by = this.#frame.principalOf(context);
    try {
      await using session = await this.#frame.host.open(place.agent, {
        sessionId: place.sessionId,
        ...(by ? { principal: by, userId: nameOfPrincipal(by) } : {}),
      });
      const open = await session.pending();
      return open.find(({ requestId, approval }) => approval !== undefined && requestId === place.requestId);
    } catch (error) {
      if (isCoxswainError(error)) return undefined;
      throw error;
    }
  }
}
