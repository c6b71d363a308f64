import { PERMISSION_MODES } from '../values/index.ts';
import { openEnum } from './open.ts';

export const permissionModes = PERMISSION_MODES;
export const permissionMode = openEnum(permissionModes);
