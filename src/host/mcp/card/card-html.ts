import { createHash } from 'node:crypto';
import type { ReportedRequest } from '../../../contracts/index.ts';
import { visible } from '../../../session/index.ts';

/** Characters of a card: what takes more is not shown in part. */
const MAX = 1_000_000;

const STYLE = `:root{color-scheme:light dark;font:14px/1.5 system-ui,sans-serif}body{margin:0;padding:12px 16px}
h1{font-size:16px;margin:0 0 4px}h2{font-size:12px;margin:12px 0 4px;opacity:.7}
pre{margin:0;padding:8px 10px;border:1px solid color-mix(in srgb,currentColor 20%,transparent);border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere;font:12px/1.5 ui-monospace,monospace}
p{margin:0 0 8px}.note{margin:12px 0 0;opacity:.7}`;

/** Says to the client that the card is there, and how tall it is. It asks nothing, hears nothing, and calls no tool. */
const SCRIPT = `const say=(m)=>parent.postMessage({jsonrpc:'2.0',...m},'*');
addEventListener('message',(e)=>{if(e.source!==parent||e.data?.id!==1||!e.data.result)return;say({method:'ui/notifications/initialized',params:{}});
say({method:'ui/notifications/size-changed',params:{width:document.documentElement.scrollWidth,height:document.documentElement.scrollHeight}})});
say({id:1,method:'ui/initialize',params:{protocolVersion:'2026-01-26',appInfo:{name:'coxswain-call',version:'1'},appCapabilities:{}}});`;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Only this script and this style: what is shown could not run if it were taken for markup. */
const POLICY = `default-src 'none'; script-src ${hashOf(SCRIPT)}; style-src ${hashOf(STYLE)}; base-uri 'none'; form-action 'none'`;

/** A call that waits for an approval: its preview and all of its arguments, as text. Nothing on it answers. */
export function cardHtml({ name, message, approval, args, agentPath }: ReportedRequest): string {
  const title = approval?.title ?? name ?? 'a call';
  const preview = (approval?.preview ?? []).map((part) => section(`Preview (${part.type})`, textOf(part)));
  const shown = [
    `<h1>${escaped(title)}</h1>`,
    message === undefined || message === title ? '' : `<p>${escaped(message)}</p>`,
    `<p>${escaped(`Tool ${name ?? ''}, asked for by ${agentPath.join(' › ')}`)}</p>`,
    ...preview,
    section('All arguments', JSON.stringify(args ?? {}, null, 2)),
  ].join('\n');
  const whole = shown.length > MAX ? '<p>What this call would do is too large for a card.</p>' : shown;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>A call that waits</title><style>${STYLE}</style></head><body><main>
${whole}
<p class="note">This card answers nothing: answer in the question that your client asks.</p>
</main><script>${SCRIPT}</script></body></html>`;
}

const section = (heading: string, text: string): string => `<h2>${escaped(heading)}</h2><pre>${escaped(text)}</pre>`;

function textOf(part: { type: string; text?: unknown }): string {
  const isText = (part.type === 'text' || part.type === 'terminal') && typeof part.text === 'string';
  return isText ? String(part.text) : JSON.stringify(part, null, 2);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text, whatever it says; what would not be seen is shown by its code. */
function escaped(text: string): string {
  return visible(text).replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '');
}
