import type { TargetedKeyboardEvent } from 'preact';

/** A key that belongs to a field, a dialog, or a shortcut of the browser. */
export function isTyping({ target }: KeyboardEvent): boolean {
  if (document.querySelector('dialog[open]')) return true;
  return target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;
}

export const isTypingKey = ({ ctrlKey, metaKey, altKey }: KeyboardEvent): boolean => ctrlKey || metaKey || altKey;

/** Ctrl or ⌘ with Enter sends the form of a text of several lines, where Enter alone begins a line. */
export function submitByKey(event: TargetedKeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}
