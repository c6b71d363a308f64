import { openEnum } from './open.ts';

export const permissionModes = ['default', 'auto_edit', 'autonomous', 'plan', 'dont_ask'] as const;
export const permissionMode = openEnum(permissionModes);
