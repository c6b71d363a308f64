/** Permission modes that are known; a host may have others. The only list of them. */
export const PERMISSION_MODES = ['default', 'auto_edit', 'autonomous', 'plan', 'dont_ask'] as const;

export type KnownPermissionMode = (typeof PERMISSION_MODES)[number];

export interface ModeTraits {
  /** A higher number lets less happen. */
  readonly strictness: number;
  /** Nobody is asked: what would have to be asked about is denied. */
  readonly asksNobody: boolean;
  /** Nothing but what only reads runs, also where policy would allow it. */
  readonly onlyReads: boolean;
  /** What a preset lets run without an approval; of that, nothing that is destructive. */
  readonly unasked: 'reads' | 'edits' | 'all';
  /** Name for people, as editors show it. */
  readonly label: string;
  /** One line for people. */
  readonly description: string;
}

/** All that is known of each mode: a new one is a name above and a row here. */
export const MODE_TRAITS: Readonly<Record<KnownPermissionMode, ModeTraits>> = {
  autonomous: {
    strictness: 0,
    asksNobody: false,
    onlyReads: false,
    unasked: 'all',
    label: 'Autonomous',
    description: 'Asks only before what cannot be brought back',
  },
  auto_edit: {
    strictness: 1,
    asksNobody: false,
    onlyReads: false,
    unasked: 'edits',
    label: 'Edit',
    description: 'Reads and edits unasked, asks before anything else',
  },
  default: {
    strictness: 2,
    asksNobody: false,
    onlyReads: false,
    unasked: 'reads',
    label: 'Ask',
    description: 'Reads unasked, asks before anything else',
  },
  dont_ask: {
    strictness: 3,
    asksNobody: true,
    onlyReads: false,
    unasked: 'reads',
    label: 'Never ask',
    description: 'Reads; whatever would have to be asked about is denied',
  },
  plan: {
    strictness: 4,
    asksNobody: false,
    onlyReads: true,
    unasked: 'reads',
    label: 'Plan',
    description: 'Reads, and changes nothing',
  },
};

/** Undefined for a mode that is not known, and for none. */
export function traitsOfMode(mode: string | undefined): ModeTraits | undefined {
  return mode !== undefined && Object.hasOwn(MODE_TRAITS, mode) ? MODE_TRAITS[mode as KnownPermissionMode] : undefined;
}

/** Whether nobody is asked in that mode. */
export function asksNobody(mode: string | undefined): boolean {
  return traitsOfMode(mode)?.asksNobody === true;
}

/** Whether nothing but what only reads runs in that mode. */
export function onlyReads(mode: string | undefined): boolean {
  return traitsOfMode(mode)?.onlyReads === true;
}
