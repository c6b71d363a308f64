import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { Explained, Place } from '../state/explain.ts';
import { useExplained } from '../state/explain.ts';
import { Visible } from './visible.tsx';

const words: Readonly<Record<string, string>> = { allow: 'allows it', ask: 'asks a person', deny: 'denies it' };
const wordOf = (outcome: string) => words[outcome] ?? outcome;

/** `allows it (rule small)`. */
export function verdictOf({ decision: { outcome, ruleId, reason }, byDefault }: Explained): string {
  const rule = byDefault ? ' (no rule matches)' : ruleId === undefined ? '' : ` (rule ${ruleId})`;
  return `${wordOf(outcome)}${rule}${reason === undefined || byDefault ? '' : `: ${reason}`}`;
}

/** Which rules were tried on a call, and what kept each from deciding. Policy is asked when it is opened. */
export function Why({ requestId, place }: { requestId: string; place: Place }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const answer = useExplained(requestId, place, undefined, isOpen);
  return (
    <details class="why" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Why? What policy says, rule by rule</summary>
      {isOpen && <Judgement requestId={requestId} place={place} answer={answer} />}
    </details>
  );
}

/** What policy says of a call, and would say of others. */
export function Judgement({
  requestId,
  place,
  answer,
}: {
  requestId: string;
  place: Place;
  answer: ReturnType<typeof useExplained>;
}): JSX.Element {
  return (
    <>
      {!answer && (
        <p class="soft" role="status">
          Asking policy…
        </p>
      )}
      {answer?.fault !== undefined && (
        <p class="notice bad" role="alert">
          <Visible text={answer.fault} />
        </p>
      )}
      {answer?.said && <Rules said={answer.said} />}
      {answer?.said?.rules && <Try requestId={requestId} place={place} args={answer.said.args} />}
    </>
  );
}

/** Other arguments, for people who may judge: what policy would say to them. Nothing is stored, and nothing runs. */
function Try({
  requestId,
  place,
  args,
}: {
  requestId: string;
  place: Place;
  args: Record<string, unknown>;
}): JSX.Element {
  const [text, setText] = useState<string>();
  const edited = useMemo(() => (text === undefined ? undefined : parsed(text)), [text]);
  const answer = useExplained(requestId, place, edited, edited !== undefined);
  if (text === undefined) {
    return (
      <button type="button" class="quiet" onClick={() => setText(JSON.stringify(args, null, 2))}>
        Try other arguments
      </button>
    );
  }
  return (
    <>
      <label class="field">
        <span>Arguments to try, as JSON</span>
        <textarea
          class="json"
          rows={Math.min(12, Math.max(4, text.split('\n').length))}
          spellcheck={false}
          value={text}
          aria-invalid={edited === undefined}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {edited === undefined ? (
        <p class="fault" role="alert">
          Arguments are a JSON object: {'{ … }'}.
        </p>
      ) : (
        <EditVerdict answer={answer} isForAnswer={false} />
      )}
      {edited && answer?.said && <Rules said={answer.said} />}
    </>
  );
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Said beside the field.
  }
  return undefined;
}

function Rules({ said }: { said: Explained }): JSX.Element {
  const { rules, mode, principal, agentPath, incomplete } = said;
  const roles = principal?.roles?.length ? ` (${principal.roles.join(', ')})` : '';
  return (
    <>
      <p>
        Policy as it is now <Visible text={verdictOf(said)} />
        {mode && (
          <>
            {' '}
            in mode <Visible text={mode.name} />, which <Visible text={wordOf(mode.without.outcome)} /> otherwise
          </>
        )}
        .
      </p>
      <p class="soft">
        Asked for <Visible text={principal ? `${principal.id}${roles}` : 'nobody'} />
        {agentPath.length > 0 && (
          <>
            {' '}
            by <Visible text={agentPath.join(' → ')} />
          </>
        )}
        {incomplete && '. The log does not say what policy was asked with then: roles and mode are not known'}.
      </p>
      {rules === undefined && <p class="soft">Its rules are shown to people who may answer the question.</p>}
      {rules?.length === 0 && <p class="soft">This policy shows no rules.</p>}
      {rules && rules.length > 0 && (
        <ol class="rules" aria-label="Rules that were tried">
          {rules.map(({ rule, outcome, spoke, because }, index) => (
            <li key={index} class={spoke ? 'spoke' : ''}>
              <span aria-hidden="true">{spoke ? '→' : '·'}</span>{' '}
              <code>
                <Visible text={rule} />
              </code>{' '}
              <span class="soft">({outcome})</span>{' '}
              {spoke ? (
                <b>applies</b>
              ) : because && 'after' in because ? (
                <>
                  is not reached: <Visible text={because.after} /> comes first
                </>
              ) : (
                <>
                  does not apply: <Visible text={because?.why ?? 'an earlier rule may apply'} />
                </>
              )}
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

/** What policy would say to what is being edited, before it is sent. */
export function EditVerdict({
  answer,
  isForAnswer,
}: {
  answer: { said?: Explained; fault?: string } | undefined;
  /** They are about to be approved: whether that is enough is said, too. */
  isForAnswer: boolean;
}): JSX.Element {
  if (!answer) {
    return (
      <p class="verdict-line soft" role="status">
        Policy on these arguments: …
      </p>
    );
  }
  const { said, fault } = answer;
  if (!said) {
    return (
      <p class="verdict-line soft" role="status">
        Policy could not be asked about these arguments: <Visible text={fault ?? ''} />
      </p>
    );
  }
  const { unfit, isForOthers, decision } = said;
  const tone = unfit !== undefined || decision.outcome === 'deny' ? 'bad' : isForOthers ? 'waits' : 'good';
  return (
    <p class={`notice verdict-line ${tone}`} role="status">
      {unfit === undefined ? (
        <>
          Policy on these arguments: <Visible text={verdictOf(said)} />
          {isForAnswer &&
            decision.outcome === 'ask' &&
            (isForOthers ? '. Your approval is not enough: others are asked, too.' : '. Your approval is enough.')}
        </>
      ) : (
        <>
          The tool does not take these arguments: <Visible text={unfit} />
        </>
      )}
    </p>
  );
}
