/** One piece of software that others wrote, and how this package is tried with it. */
export interface Subject {
  /** As the table calls it. */
  readonly name: string;
  /** What it is to this package: `MCP server`, `MCP client`, `ACP agent`, … */
  readonly role: string;
  /** Exact versions from the registry, the subject's own first. */
  readonly packages: Readonly<Record<string, string>>;
  /** Install scripts run only where this says so. Default false. */
  readonly scripts?: boolean;
  /** Milliseconds that one try may take. Default 60,000. */
  readonly tryMs?: number;
  run(trial: Trial): Promise<void>;
}

export interface Trial {
  /** Temporary, with the subject's packages installed; removed at the end. */
  readonly folder: string;
  /** Whole path of a file of an installed package, as `import` or a command line takes it. */
  file(path: string): string;
  /** Whole path of the JavaScript file behind a package's command. */
  bin(packageName: string, command?: string): string;
  /** One thing that is tried. What the work returns is told in the table; what it throws is a failure. */
  check(what: string, work: () => Promise<string>): Promise<void>;
}

export interface Check {
  readonly what: string;
  readonly isOk: boolean;
  readonly seen: string;
}

/** For its types alone: a file of a subject exports one by default. */
export const subject = (given: Subject): Subject => given;
