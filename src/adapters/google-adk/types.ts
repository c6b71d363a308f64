/**
 * What is used of `@google/adk` 2.x, by shape: the module is handed in by whoever has it, so that this package neither
 * depends on it nor loads it.
 */
export interface AdkPart {
  text?: string;
  thought?: boolean;
  functionCall?: { id?: string; name?: string; args?: Record<string, unknown> };
  functionResponse?: { id?: string; name?: string; response?: Record<string, unknown> };
  inlineData?: { mimeType?: string; data?: string };
  fileData?: { mimeType?: string; fileUri?: string };
  executableCode?: { code?: string; language?: string };
  codeExecutionResult?: { output?: string; outcome?: string };
}

export interface AdkContent {
  role?: string;
  parts?: AdkPart[];
}

export interface AdkActions {
  stateDelta: Record<string, unknown>;
  artifactDelta: Record<string, number>;
  transferToAgent?: string;
  escalate?: boolean;
  skipSummarization?: boolean;
  requestedAuthConfigs: Record<string, object>;
  requestedToolConfirmations: Record<string, object>;
}

export interface AdkEvent {
  id: string;
  author?: string;
  branch?: string;
  content?: AdkContent;
  partial?: boolean;
  actions: AdkActions;
  errorCode?: string;
  errorMessage?: string;
  finishReason?: string;
  usageMetadata?: {
    promptTokenCount?: number;
    candidatesTokenCount?: number;
    cachedContentTokenCount?: number;
    thoughtsTokenCount?: number;
  };
  customMetadata?: Record<string, unknown>;
}

export interface AdkTool {
  name: string;
  description: string;
  isLongRunning?: boolean;
  _getDeclaration(): { parameters?: unknown; parametersJsonSchema?: unknown } | undefined;
  runAsync(request: never): Promise<unknown>;
}

export interface AdkState {
  get(key: string): unknown;
  set(key: string, value: never): void;
  toRecord(): Record<string, unknown>;
  update(delta: Record<string, unknown>): void;
}

export interface AdkInvocation {
  agent?: object;
  userId?: string;
  session: { id: string; events: AdkEvent[] };
  sessionService?: AdkSessionService;
  memoryService?: object;
  credentialService?: object;
  artifactService?: object;
}

export interface AdkToolContext {
  functionCallId?: string;
  actions: AdkActions;
  state: AdkState;
  invocationContext: AdkInvocation;
}

export interface AdkRequest {
  toolsDict: Record<string, AdkTool>;
}

export interface GoogleAdkSession {
  id: string;
  userId: string;
  appName: string;
  events: AdkEvent[];
  state: Record<string, unknown>;
}

export interface AdkSessionService {
  createSession(request: {
    appName: string;
    userId: string;
    sessionId: string;
    state?: Record<string, unknown>;
  }): Promise<GoogleAdkSession>;
  getSession(request: { appName: string; userId: string; sessionId: string }): Promise<GoogleAdkSession | undefined>;
  getOrCreateSession(request: {
    appName: string;
    userId: string;
    sessionId: string;
    state?: Record<string, unknown>;
  }): Promise<GoogleAdkSession>;
  deleteSession(request: { appName: string; userId: string; sessionId: string }): Promise<void>;
  appendEvent(request: never): Promise<unknown>;
}

export interface AdkAgent {
  name: string;
  description?: string | undefined;
  subAgents: AdkAgent[];
}

interface AdkRunner {
  runAsync(request: never): AsyncGenerator<AdkEvent, void, undefined>;
}

/** The module: `await import('@google/adk')`. */
export interface AdkModule {
  Runner: new (config: never) => AdkRunner;
  BasePlugin: abstract new (name: string) => object;
  BaseTool: abstract new (params: { name: string; description: string }) => AdkTool;
  Context: new (params: never) => AdkToolContext;
  ToolConfirmation: new (params: never) => object;
  InMemorySessionService: new () => AdkSessionService;
  InMemoryMemoryService: new () => object;
  createEvent(params: never): AdkEvent;
  isAgentTool(tool: unknown): boolean;
  isBaseAgent(agent: unknown): boolean;
  isLlmAgent(agent: unknown): boolean;
  isLoopAgent(agent: unknown): boolean;
  isParallelAgent(agent: unknown): boolean;
  isSequentialAgent(agent: unknown): boolean;
  isBaseTool(tool: unknown): boolean;
  StreamingMode: { NONE: unknown; SSE: unknown };
}
