import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { draftOf, Form, fieldsOf, valuesOf } from '../parts/form.tsx';

/** Members above which a form is no help. */
const MAX_FIELDS = 40;
/** Characters of JSON that are edited here. */
const MAX_TEXT = 200_000;

/** Arguments in place of those that were asked for: as a form of the tool's schema, or as JSON. */
export function Editor({
  args,
  schema,
  verdict,
  onArgs,
  onLeave,
}: {
  args: Record<string, unknown>;
  schema: Record<string, unknown> | undefined;
  /** What is said of them as they are. */
  verdict: ComponentChildren;
  onArgs: (args: Record<string, unknown> | undefined | 'unfit') => void;
  onLeave: () => void;
}): JSX.Element {
  const fields = useMemo(() => fieldsOf(schema, args), [schema, args]);
  const whole = useMemo(() => JSON.stringify(args, null, 2), [args]);
  const [draft, setDraft] = useState(() => draftOf(fields, args));
  const [text, setText] = useState(whole);
  const [isForm, setForm] = useState(fields.length > 0 && fields.length <= MAX_FIELDS);
  const [fault, setFault] = useState<string>();
  const { faults } = valuesOf(fields, draft, args);
  const box = useRef<HTMLElement>(null);
  // On a small screen it begins below what is shown: a press of the button that opens it would seem to do nothing. At once:
  // later, the focus would be taken from a field in which somebody types.
  useLayoutEffect(() => {
    box.current?.querySelector<HTMLElement>('input, textarea, select')?.focus({ preventScroll: true });
    box.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  if (whole.length > MAX_TEXT) return <p class="notice">These arguments are too large to be edited here.</p>;
  const give = (values: Record<string, unknown>) =>
    onArgs(JSON.stringify(values) === JSON.stringify(args) ? undefined : values);
  const show = (asForm: boolean) => {
    if (asForm) {
      const value = parsed(text);
      if ('fault' in value) return setFault(value.fault);
      setDraft(draftOf(fieldsOf(schema, value.args), value.args));
    } else {
      const read = valuesOf(fields, draft, args);
      if (read.faults.size === 0) setText(JSON.stringify(read.values, null, 2));
    }
    setFault(undefined);
    setForm(asForm);
  };
  return (
    <section ref={box} class="editor" aria-label="Edited arguments">
      <div class="tabs">
        {fields.length > 0 && fields.length <= MAX_FIELDS && (
          <button type="button" aria-pressed={isForm} onClick={() => show(true)}>
            Form
          </button>
        )}
        <button type="button" aria-pressed={!isForm} onClick={() => show(false)}>
          JSON
        </button>
        <button type="button" class="quiet" onClick={onLeave}>
          Do not edit
        </button>
      </div>
      {isForm ? (
        <Form
          fields={fields}
          draft={draft}
          faults={faults}
          onDraft={(next) => {
            setDraft(next);
            const read = valuesOf(fields, next, args);
            if (read.faults.size > 0) onArgs('unfit');
            else give(read.values);
          }}
        />
      ) : (
        <label class="field">
          <span>Arguments to run with, as JSON</span>
          <textarea
            class="json"
            rows={Math.min(20, Math.max(4, text.split('\n').length))}
            spellcheck={false}
            value={text}
            aria-invalid={fault !== undefined}
            onInput={(event) => {
              const next = event.currentTarget.value;
              setText(next);
              const value = parsed(next);
              setFault('fault' in value ? value.fault : undefined);
              if ('fault' in value) onArgs('unfit');
              else give(value.args);
            }}
          />
          {fault !== undefined && (
            <span class="fault" role="alert">
              {fault}
            </span>
          )}
        </label>
      )}
      {verdict}
      <p class="says">
        The tool&apos;s schema and the policy are asked again before anything runs; both versions are kept in the log.
      </p>
    </section>
  );
}

function parsed(text: string): { args: Record<string, unknown> } | { fault: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { args: value as Record<string, unknown> };
    return { fault: 'Arguments are an object: { … }.' };
  } catch (error) {
    return { fault: `Not JSON: ${error instanceof Error ? error.message : 'it cannot be read'}` };
  }
}
