/** The slot in which an agent runs as a tool: it is of one call, in whichever turn that is gone on with. */
export function slotOfCall(call: { readonly path: string; readonly id: string }): string {
  return `${call.path}/${call.id}`;
}

/** A place in a slot of the tree, however deep, and whoever it was handed over to. */
export function isWithin(slot: string, path: string): boolean {
  return path === slot || path.startsWith(`${slot}/`) || path.startsWith(`${slot}~`);
}
