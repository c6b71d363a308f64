/** Permission modes that are known; a host may have others. The only list of them. */
export const PERMISSION_MODES = ['default', 'auto_edit', 'autonomous', 'plan', 'dont_ask'] as const;

export type KnownPermissionMode = (typeof PERMISSION_MODES)[number];

/** How strict each is: a higher number lets less happen. */
export const MODE_STRICTNESS: Readonly<Record<KnownPermissionMode, number>> = {
  autonomous: 0,
  auto_edit: 1,
  default: 2,
  dont_ask: 3,
  plan: 4,
};
