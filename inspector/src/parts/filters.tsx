interface SearchProps {
  /** For who does not see the field's place. */
  label: string;
  placeholder: string;
  value: string;
  change(value: string): void;
}

/** Words that a list is narrowed by. */
export function Search({ label, placeholder, value, change }: SearchProps) {
  return (
    <label>
      <span class="said">{label}</span>
      <input
        type="search"
        placeholder={placeholder}
        value={value}
        onInput={(event) => change(event.currentTarget.value)}
      />
    </label>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  /** What the choice of nothing is called. */
  all: string;
  value: T | '';
  /** What each is called. */
  names: Readonly<Record<T, string>>;
  change(value: T | ''): void;
}

/** One of a few, or all. */
export function Choice<T extends string>({ label, all, value, names, change }: ChoiceProps<T>) {
  return (
    <label>
      <span class="said">{label}</span>
      <select value={value} onChange={(event) => change(event.currentTarget.value as T | '')}>
        <option value="">{all}</option>
        {Object.entries<string>(names).map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
