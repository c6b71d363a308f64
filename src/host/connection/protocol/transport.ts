/** A socket, whatever library it comes from: messages in, messages out. */
export interface Transport {
  /** Subprotocol that was agreed on. */
  readonly protocol: string;
  /** Sends one text message; never waits, never throws. */
  send(text: string): void;
  /** `patienceMs`: how long the peer has to answer the close before it is cut off. */
  close(code: number, reason: string, patienceMs?: number): void;
  /** Nothing is read any more, until it is resumed: what the peer sends waits with the peer. */
  pause(): void;
  resume(): void;
  onMessage(listener: (text: string) => void): void;
  /** Bytes that wait to be written. */
  readonly bufferedAmount: number;
  /** Of those, what the system has not taken yet: it falls with every piece that the peer reads. */
  readonly unwritten: number;
  /** Called when what waited has been written. */
  onDrain(listener: () => void): void;
}

/** What a state machine is told by whoever owns the socket. */
export interface Opened {
  /** The socket is closed; nothing is sent any more. */
  closed(): void;
}
