/** The pages of the site, by what a reader wants of them. A test compares this list with the folders. */

export interface Section {
  readonly label: string;
  /** Paths in the project, in reading order. */
  readonly pages: readonly string[];
  /** A folder with many pages: they are listed on a page of its own, which stands behind the others. */
  readonly folder?: string;
  readonly collapsed?: boolean;
}

export const sections: readonly Section[] = [
  { label: 'Start', pages: ['README.md', 'docs/getting-started.md'] },
  {
    label: 'How-to',
    pages: [
      'docs/howto/tools.md',
      'docs/howto/approvals.md',
      'docs/howto/inspector.md',
      'docs/howto/policy-recipes.md',
      'docs/howto/hooks.md',
      'docs/howto/web-app.md',
      'docs/howto/chat-page.md',
      'docs/howto/react.md',
      'docs/howto/ag-ui.md',
      'docs/howto/mcp-clients.md',
      'docs/howto/foreign-agents.md',
      'docs/howto/testing.md',
      'docs/howto/deploy.md',
      'docs/howto/many-machines.md',
      'docs/howto/observability.md',
      'docs/howto/long-conversations.md',
      'docs/howto/skills.md',
      'docs/howto/troubleshooting.md',
    ],
  },
  {
    label: 'Moving over',
    pages: ['docs/from/ai-sdk.md', 'docs/from/openai-agents.md', 'docs/from/langgraph.md', 'docs/from/google-adk.md'],
  },
  {
    label: 'Guides to the parts',
    pages: [
      'docs/policy.md',
      'docs/models.md',
      'docs/storage.md',
      'docs/websocket.md',
      'docs/http.md',
      'docs/mcp.md',
      'docs/acp.md',
      'docs/google-adk.md',
      'docs/executors.md',
      'docs/conformance.md',
      'docs/audit.md',
      'docs/telemetry.md',
    ],
  },
  {
    label: 'Reference',
    pages: [
      'docs/cli.md',
      'docs/reference/host-options.md',
      'docs/reference/events.md',
      'docs/reference/rules.md',
      'docs/errors.md',
      'docs/limits.md',
      'docs/entries.md',
      'spec/PROTOCOL.md',
      'spec/EXECUTOR.md',
    ],
  },
  {
    label: 'Explanation',
    pages: [
      'docs/comparison.md',
      'docs/glossary.md',
      'docs/trust.md',
      'docs/ARCHITECTURE.md',
      'docs/rooms.md',
      'docs/interop.md',
      'bench/README.md',
    ],
  },
  {
    label: 'Changing the code',
    pages: [
      'docs/changing/permission-mode.md',
      'docs/changing/model-provider.md',
      'docs/changing/usage-and-cost.md',
      'docs/changing/memory.md',
      'docs/changing/obligations.md',
      'docs/changing/approvers.md',
      'docs/changing/question-time.md',
      'docs/changing/tool-results.md',
      'docs/changing/resume.md',
      'docs/changing/compaction.md',
      'docs/changing/session-lists.md',
      'docs/changing/public-names.md',
    ],
    collapsed: true,
  },
  {
    label: 'Examples',
    pages: [
      'examples/README.md',
      'examples/notes/README.md',
      'examples/workspace/README.md',
      'examples/patterns/README.md',
      'examples/auto-tools/README.md',
      'examples/executors/README.md',
      'examples/minimal-executor/README.md',
      'examples/mcp/README.md',
      'examples/remote/README.md',
      'examples/chat/README.md',
      'examples/next/README.md',
      'examples/react/README.md',
      'examples/page/README.md',
    ],
    collapsed: true,
  },
  {
    label: 'The project',
    pages: ['CHANGELOG.md', 'SECURITY.md', 'CONTRIBUTING.md'],
    folder: 'docs/decisions',
    collapsed: true,
  },
];

/** Where the site has a page: its address without the slashes around it, empty for the first page. */
export function routeOf(page: string): string {
  if (page === 'README.md') return '';
  return page
    .replace(/^docs\//, '')
    .replace(/\/README\.md$|\.md$/, '')
    .toLowerCase();
}
