import type { JSX } from 'preact';
import { Dialog } from './dialog.tsx';

const keys: readonly [key: string, says: string][] = [
  ['j  k', 'next, previous'],
  ['Enter', 'open'],
  ['Esc', 'back to the list'],
  ['a', 'go to the button that approves; Enter presses it'],
  ['d', 'deny: asks for the reason'],
  ['e', 'edit the arguments'],
  ['x', 'mark it, to be answered together with others'],
  ['/', 'search, where the screen has a list'],
  ['g i', 'inbox'],
  ['g s', 'sessions'],
  ['g p', 'policy'],
  ['?', 'these keys'],
];

export function KeysHelp({ onClose }: { onClose: () => void }): JSX.Element {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {keys.map(([key, says]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{says}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
