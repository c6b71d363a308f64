import { clean, paint } from './text.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/**
 * The terminal, or what stands for it: the agent's words go to stdout, everything else to stderr. While a person is
 * asked, what comes meanwhile waits.
 */
export class Screen {
  readonly #moves: boolean;
  #held: (() => void)[] | undefined;
  /** Words without a line feed at their end are on the terminal. */
  #isOpen = false;
  #spinner: { timer: ReturnType<typeof setInterval>; label: string; frame: number } | undefined;
  #isSpinnerShown = false;

  constructor() {
    this.#moves = process.stderr.isTTY === true && process.env.TERM !== 'dumb';
  }

  /** Words of the agent, as they come. */
  words(text: string): void {
    this.#later(() => {
      if (text === '') return;
      this.#wipe();
      process.stdout.write(process.stdout.isTTY ? clean(text) : text);
      this.#isOpen = !text.endsWith('\n');
    });
  }

  /** Ends the line that words have begun. */
  endWords(): void {
    this.#later(() => {
      if (!this.#isOpen) return;
      process.stdout.write('\n');
      this.#isOpen = false;
    });
  }

  /** Something for people, on its own lines; may hold colour, so that foreign text must be clean before. */
  line(text: string): void {
    this.#later(() => this.now(`${text}\n`));
  }

  /** Past the queue: for whoever holds the screen. */
  now(text: string): void {
    this.#wipe();
    if (this.#isOpen && process.stdout.isTTY) {
      process.stdout.write('\n');
      this.#isOpen = false;
    }
    process.stderr.write(text);
  }

  /** Shows that something is awaited; a terminal only. */
  spin(label: string): void {
    if (!this.#moves) return;
    if (this.#spinner) {
      this.#spinner.label = label;
      return;
    }
    const spinner = { timer: setInterval(() => this.#turn(), 100), label, frame: 0 };
    spinner.timer.unref();
    this.#spinner = spinner;
  }

  still(): void {
    this.#wipe();
    clearInterval(this.#spinner?.timer);
    this.#spinner = undefined;
  }

  /** What is written from now on waits for {@link release}. */
  hold(): void {
    this.#wipe();
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held;
    this.#held = undefined;
    for (const write of held ?? []) write();
  }

  #later(write: () => void): void {
    if (this.#held) this.#held.push(write);
    else write();
  }

  #turn(): void {
    if (!this.#spinner || this.#held || this.#isOpen) return;
    const frame = FRAMES[this.#spinner.frame++ % FRAMES.length];
    process.stderr.write(`\r${paint('cyan', frame ?? '')} ${paint('dim', this.#spinner.label)}\u001b[K`);
    this.#isSpinnerShown = true;
  }

  #wipe(): void {
    if (!this.#isSpinnerShown) return;
    process.stderr.write('\r\u001b[K');
    this.#isSpinnerShown = false;
  }
}
