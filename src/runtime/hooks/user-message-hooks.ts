import type { Content, ContentPart } from '../../contracts/index.ts';
import { checkContent } from '../../session/index.ts';
import { hookContent } from './hook-values.ts';
import { failClosed } from './hook-wait.ts';
import type { InvocationInfo } from './invocation-info.ts';
import type { Plugin } from './plugin.ts';

/** What the on_user_message hooks make of a person's words; the first that returns something wins. */
export async function hookUserMessage(
  info: InvocationInfo,
  plugins: readonly Plugin[],
  parts: ContentPart[],
): Promise<ContentPart[]> {
  const content: Content = { role: 'user', parts };
  for (const plugin of plugins) {
    const point = `${plugin.name}.onUserMessage`;
    const replaced = await failClosed(point, info.signal, () => plugin.onUserMessage?.(info, content));
    if (replaced) return checkContent(hookContent(replaced, 'user', point).parts);
  }
  return parts;
}
