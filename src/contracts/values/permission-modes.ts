/** Permission modes that are known; a host may have others. The only list of them. */
export const PERMISSION_MODES = ['default', 'auto_edit', 'autonomous', 'plan', 'dont_ask'] as const;

export type KnownPermissionMode = (typeof PERMISSION_MODES)[number];

export interface ModeTraits {
  /** A higher number lets less happen. */
  readonly strictness: number;
  /** Nobody is asked: what would have to be asked about is denied. */
  readonly asksNobody: boolean;
  /** Name for people, as editors show it. */
  readonly label: string;
  /** One line for people. */
  readonly description: string;
}

/** All that is known of each mode beside what it allows, which is policy's. */
export const MODE_TRAITS: Readonly<Record<KnownPermissionMode, ModeTraits>> = {
  autonomous: {
    strictness: 0,
    asksNobody: false,
    label: 'Autonomous',
    description: 'Asks only before what cannot be brought back',
  },
  auto_edit: {
    strictness: 1,
    asksNobody: false,
    label: 'Edit',
    description: 'Reads and edits unasked, asks before anything else',
  },
  default: {
    strictness: 2,
    asksNobody: false,
    label: 'Ask',
    description: 'Reads unasked, asks before anything else',
  },
  dont_ask: {
    strictness: 3,
    asksNobody: true,
    label: 'Never ask',
    description: 'Reads; whatever would have to be asked about is denied',
  },
  plan: {
    strictness: 4,
    asksNobody: false,
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
