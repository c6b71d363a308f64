// biome-ignore-all lint/correctness/noUndeclaredDependencies: installed beside it when it is tried
import { CopilotChat, CopilotKitProvider, useDefaultRenderTool, useInterrupt } from '@copilotkit/react-core/v2';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

const threadId = new URLSearchParams(location.search).get('thread');

/** What a call is about, as CopilotKit shows it, with our question in the chat below. */
function Chat() {
  useDefaultRenderTool({
    render: ({ name, parameters, args, status, result }) => (
      <p data-testid="call">
        {name} {JSON.stringify(parameters ?? args)} {status} {result}
      </p>
    ),
  });
  useInterrupt({
    agentId: 'clerk',
    render: ({ interrupt, resolve, cancel }) => <Question interrupt={interrupt} resolve={resolve} cancel={cancel} />,
  });
  return <CopilotChat agentId="clerk" threadId={threadId} />;
}

function Question({ interrupt, resolve, cancel }) {
  const { args } = interrupt.metadata?.coxswain ?? {};
  const [edited, setEdited] = useState(JSON.stringify(args));
  return (
    <fieldset>
      <legend>{interrupt.message}</legend>
      <input aria-label="Arguments" value={edited} onChange={(event) => setEdited(event.target.value)} />
      <button type="button" onClick={() => resolve({ approved: true })}>
        Approve
      </button>
      <button type="button" onClick={() => resolve({ approved: true, editedArgs: JSON.parse(edited) })}>
        Approve these
      </button>
      <button type="button" onClick={() => resolve({ approved: false, reason: 'not this one' })}>
        Deny
      </button>
      <button type="button" onClick={() => cancel()}>
        Cancel
      </button>
    </fieldset>
  );
}

createRoot(document.getElementById('root')).render(
  <CopilotKitProvider runtimeUrl="/api">
    <Chat />
  </CopilotKitProvider>,
);
