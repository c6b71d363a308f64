import type { UIMessage } from 'ai';
import { cookies } from 'next/headers';
import { messagesOf, personOf } from '../../../server.ts';
import { Chat } from './chat.tsx';

/** A chat as it stands: the server has its history. */
export default async function ChatPage({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  const cookie = (await cookies()).toString();
  const messages = (await messagesOf(id, cookie)) as UIMessage[];
  return <Chat id={id} before={messages} person={personOf(cookie)?.id ?? 'nobody'} />;
}
