import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Visible } from './visible.tsx';

type Schema = Record<string, unknown>;

/** One member of a form: from the schema where it says something, else from the value. */
interface Field {
  name: string;
  kind: 'text' | 'number' | 'whole' | 'yes-no' | 'choice' | 'json';
  choices: readonly unknown[];
  isNeeded: boolean;
  says: string;
}

export function fieldsOf(schema: Schema | undefined, values: Readonly<Record<string, unknown>>): Field[] {
  const properties = (schema?.properties ?? {}) as Record<string, Schema>;
  const needed = Array.isArray(schema?.required) ? (schema.required as unknown[]) : [];
  const names = [...new Set([...Object.keys(properties), ...Object.keys(values)])];
  return names.map((name) => {
    const own = Object.hasOwn(properties, name) ? (properties[name] ?? {}) : {};
    const choices = Array.isArray(own.enum) ? own.enum : [];
    const says = typeof own.description === 'string' ? own.description : '';
    return { name, kind: kindOf(own, values[name], choices), choices, isNeeded: needed.includes(name), says };
  });
}

function kindOf({ type }: Schema, value: unknown, choices: readonly unknown[]): Field['kind'] {
  if (choices.length > 0) return 'choice';
  if (type === 'integer') return 'whole';
  if (type === 'number' || (type === undefined && typeof value === 'number')) return 'number';
  if (type === 'boolean' || (type === undefined && typeof value === 'boolean')) return 'yes-no';
  if (type === 'string' || (type === undefined && typeof value === 'string')) {
    return value === undefined || typeof value === 'string' ? 'text' : 'json';
  }
  return 'json';
}

/** What a person has typed, and what is wrong with it. */
export interface Draft {
  texts: Readonly<Record<string, string>>;
}

export function draftOf(fields: readonly Field[], values: Readonly<Record<string, unknown>>): Draft {
  const texts: Record<string, string> = {};
  for (const { name, kind, choices } of fields) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (kind === 'choice') texts[name] = String(choices.indexOf(value));
    else if (value === undefined) texts[name] = '';
    else texts[name] = kind === 'json' ? JSON.stringify(value, null, 2) : String(value);
  }
  return { texts };
}

/** The values of a draft, and per field why it has none. What was not touched stays as it was given. */
export function valuesOf(
  fields: readonly Field[],
  { texts }: Draft,
  given: Readonly<Record<string, unknown>> = {},
): { values: Record<string, unknown>; faults: ReadonlyMap<string, string> } {
  const values: Record<string, unknown> = {};
  const faults = new Map<string, string>();
  const before = draftOf(fields, given);
  for (const field of fields) {
    const text = texts[field.name] ?? '';
    const isAsGiven = Object.hasOwn(given, field.name) && text === before.texts[field.name];
    const read: Read = isAsGiven ? { value: given[field.name] } : readText(field, text);
    if (read.fault !== undefined) faults.set(field.name, read.fault);
    else if ('value' in read) Object.defineProperty(values, field.name, { ...open, value: read.value });
  }
  return { values, faults };
}

/** Whatever it is called: `__proto__` is a name like another. */
const open = { enumerable: true, configurable: true, writable: true };

/** What a field's text says: a value, why it has none, or nothing where it may be left out. */
type Read = { value?: unknown; fault?: undefined } | { fault: string };

function readText({ kind, isNeeded, choices }: Field, text: string): Read {
  if (kind === 'choice') {
    const choice = choices[Number(text)];
    if (text !== '' && Number(text) >= 0) return { value: choice };
    return isNeeded ? { fault: 'Choose one.' } : {};
  }
  if (text === '' && kind !== 'text') return isNeeded ? { fault: 'Needed.' } : {};
  switch (kind) {
    case 'text':
      return text === '' && !isNeeded ? {} : { value: text };
    case 'number':
    case 'whole': {
      const value = Number(text);
      if (!Number.isFinite(value)) return { fault: 'Not a number.' };
      return kind === 'whole' && !Number.isInteger(value) ? { fault: 'A whole number is needed.' } : { value };
    }
    case 'yes-no':
      return { value: text === 'true' };
    default:
      try {
        return { value: JSON.parse(text) as unknown };
      } catch {
        return { fault: 'Not JSON.' };
      }
  }
}

/** A form for flat values; what is nested is edited as JSON. */
export function Form({
  fields,
  draft,
  faults,
  onDraft,
  isDisabled = false,
}: {
  fields: readonly Field[];
  draft: Draft;
  faults: ReadonlyMap<string, string>;
  onDraft: (draft: Draft) => void;
  isDisabled?: boolean;
}): JSX.Element {
  const id = useId();
  const set = (name: string, text: string) => onDraft({ texts: { ...draft.texts, [name]: text } });
  return (
    <div class="form">
      {fields.map((field, at) => {
        const own = `${id}-${at}`;
        const fault = faults.get(field.name);
        const text = draft.texts[field.name] ?? '';
        const common = {
          id: own,
          disabled: isDisabled,
          'aria-invalid': fault !== undefined,
          'aria-describedby': `${own}-says`,
        };
        return (
          <div key={field.name} class="field">
            <label for={own}>
              <Visible text={field.name} />
              {field.isNeeded && <span class="needed"> needed</span>}
            </label>
            <Control field={field} text={text} common={common} onText={(changed) => set(field.name, changed)} />
            <span id={`${own}-says`} class={fault === undefined ? 'says' : 'fault'} role={fault ? 'alert' : undefined}>
              {fault ?? <Visible text={field.says} />}
            </span>
          </div>
        );
      })}
    </div>
  );
}

function Control({
  field,
  text,
  common,
  onText,
}: {
  field: Field;
  text: string;
  common: Record<string, unknown>;
  onText: (text: string) => void;
}): JSX.Element {
  const take = (event: { currentTarget: { value: string } }) => onText(event.currentTarget.value);
  switch (field.kind) {
    case 'choice':
      return (
        <select {...common} value={text} onChange={take}>
          {!field.isNeeded && <option value="-1">—</option>}
          {field.choices.map((choice, index) => (
            <option key={index} value={String(index)}>
              {String(choice)}
            </option>
          ))}
        </select>
      );
    case 'yes-no':
      return (
        <select {...common} value={text} onChange={take}>
          <option value="true">yes</option>
          <option value="false">no</option>
        </select>
      );
    case 'number':
    case 'whole':
      return <input {...common} inputMode="decimal" autocomplete="off" value={text} onInput={take} />;
    default: {
      const isLong = field.kind === 'json' || text.length > 60 || text.includes('\n');
      const rows = Math.min(12, Math.max(2, text.split('\n').length));
      return isLong ? (
        <textarea
          {...common}
          class={field.kind}
          rows={rows}
          spellcheck={false}
          dir="auto"
          value={text}
          onInput={take}
        />
      ) : (
        <input {...common} autocomplete="off" spellcheck={false} dir="auto" value={text} onInput={take} />
      );
    }
  }
}
