import { signal } from '@preact/signals';

const NAME = 'coxswain-theme';
const all = ['system', 'light', 'dark'] as const;
type Theme = (typeof all)[number];

function stored(): Theme {
  try {
    const value = localStorage.getItem(NAME);
    return all.find((one) => one === value) ?? 'system';
  } catch {
    return 'system';
  }
}

export const theme = signal<Theme>(stored());
theme.subscribe((value) => {
  if (value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = value;
});

export function changeTheme(): void {
  theme.value = all[(all.indexOf(theme.value) + 1) % all.length] ?? 'system';
  try {
    localStorage.setItem(NAME, theme.value);
  } catch {
    // A browser that keeps nothing: until the page is closed.
  }
}
