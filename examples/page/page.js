import { connect, sessionStore, textOfParts } from 'coxswain/client';

const sessionId = localStorage.getItem('session') ?? crypto.randomUUID();
localStorage.setItem('session', sessionId);

const remote = connect(`${location.origin}/agents/v1`);
const store = sessionStore(remote, 'keeper', { sessionId, create: true });
const [items, questions, error, form, text] = ['items', 'questions', 'error', 'form', 'text'].map((id) =>
  document.getElementById(id),
);

function element(name, members, ...children) {
  const made = Object.assign(document.createElement(name), members);
  made.append(...children);
  return made;
}

function show() {
  const shown = store.getSnapshot();
  items.replaceChildren(
    ...shown.items.map((item) =>
      item.type === 'message'
        ? element('li', { className: item.message.role }, textOfParts(item.message.content))
        : element(
            'li',
            { className: 'call' },
            `${item.call.name}: ${textOfParts(item.call.content ?? []) || item.call.status}`,
          ),
    ),
  );
  questions.replaceChildren(
    ...shown.pending.map(({ requestId, message, args }) => {
      const answer = (kind) => () => store.respond(requestId, { kind });
      const allow = element('button', { type: 'button', onclick: answer('approve') }, 'Allow');
      const deny = element('button', { type: 'button', onclick: answer('deny') }, 'Deny');
      return element('p', {}, `${message} ${JSON.stringify(args)} `, allow, ' ', deny);
    }),
  );
  error.textContent = shown.error?.message ?? '';
}

store.subscribe(show);
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  if (await store.send(text.value)) text.value = '';
});
