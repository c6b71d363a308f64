import { clean, paint } from './text.ts';
import { WordWrap } from './wrap.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** What stands under everything that is written: a line that is typed. */
export interface Footer {
  /** Called with the cursor at the beginning of an empty line. */
  draw(): void;
  /** Leaves the cursor where it began to draw. */
  erase(): void;
}

/**
 * The terminal, or what stands for it: the agent's words go to stdout, everything else to stderr. While a person is
 * asked, what comes meanwhile waits.
 */
export class Screen {
  readonly #moves: boolean;
  #held: (() => void)[] | undefined;
  /** Words without a line feed at their end are on the terminal. */
  #isOpen = false;
  /** A line of words was ended in its midst. */
  #isBroken = false;
  #spinner: { timer: ReturnType<typeof setInterval>; label: string; frame: number } | undefined;
  #isSpinnerShown = false;
  #footer: Footer | undefined;
  #isFooterDrawn = false;
  /** Words that wait for the end of their line: above a footer only whole lines are written. */
  #begun = '';
  readonly #wrap = new WordWrap();

  constructor() {
    this.#moves = process.stderr.isTTY === true && process.env.TERM !== 'dumb';
  }

  /** Words of the agent, as they come. */
  words(text: string): void {
    this.#later(() => {
      if (text === '') return;
      this.#wipe();
      if (!process.stdout.isTTY) process.stdout.write(text);
      else {
        const shown = this.#isBroken ? clean(text).replace(/^ /, '') : clean(text);
        this.#isBroken = false;
        this.#write(this.#wrap.push(shown));
        return;
      }
      this.#isOpen = !text.endsWith('\n');
    });
  }

  /** Ends the line that words have begun. */
  endWords(): void {
    this.#later(() => {
      this.#lastWord();
      if (this.#begun !== '') this.#wholeLines('\n');
      this.#wrap.restart();
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
    this.#lift();
    this.#lastWord();
    if (this.#begun !== '') this.#flush('\n');
    this.#closeLine();
    process.stderr.write(text);
    this.#settle();
  }

  /** A line beside the words that come, which go on after it. `change` changes the footer, out of sight. */
  aside(text: string, change: () => void): void {
    this.#lift();
    change();
    this.#later(() => {
      this.#wipe();
      this.#lift();
      this.#closeLine();
      process.stderr.write(`${text}\n`);
      this.#settle();
    });
  }

  /** A footer stands under everything from now on, until it is taken away; undefined takes it away. */
  put(footer: Footer | undefined): void {
    if (footer === this.#footer) return;
    this.#lift();
    if (!this.#held) this.#lastWord();
    this.#footer = footer;
    if (!footer && !this.#held && this.#begun !== '') {
      this.#flush('');
      this.#isOpen = true;
    }
    this.#settle();
  }

  /** The footer is one no more: what it has drawn stays. */
  leave(): void {
    this.#footer = undefined;
    this.#isFooterDrawn = false;
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
    this.#lift();
    this.#lastWord();
    if (this.#begun !== '') this.#flush('\n');
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held;
    this.#held = undefined;
    for (const write of held ?? []) write();
    this.#settle();
  }

  #settle(): void {
    if (!this.#footer || this.#held || this.#isFooterDrawn) return;
    this.#wipe();
    this.#closeLine();
    this.#footer.draw();
    this.#isFooterDrawn = true;
  }

  #lift(): void {
    if (this.#isFooterDrawn) this.#footer?.erase();
    this.#isFooterDrawn = false;
  }

  #closeLine(): void {
    if (process.stdout.isTTY) this.#lastWord();
    if (!this.#isOpen || !process.stdout.isTTY) return;
    process.stdout.write('\n');
    this.#wrap.restart();
    this.#isOpen = false;
    this.#isBroken = true;
  }

  #write(text: string): void {
    if (text === '') return;
    if (this.#footer) {
      this.#wholeLines(text);
      return;
    }
    process.stdout.write(text);
    this.#isOpen = !text.endsWith('\n');
  }

  /** A word whose end has not come is written as it is. */
  #lastWord(): void {
    const word = this.#wrap.flush();
    if (!this.#footer) this.#write(word);
    else this.#begun += word;
  }

  /** Writes the lines that are whole. */
  #wholeLines(text: string): void {
    this.#begun += text;
    const end = this.#begun.lastIndexOf('\n');
    if (end < 0) return;
    const whole = this.#begun.slice(0, end);
    this.#begun = this.#begun.slice(end + 1);
    this.#lift();
    process.stdout.write(`${whole}\n`);
    this.#settle();
  }

  #flush(end: string): void {
    if (end !== '') this.#wrap.restart();
    process.stdout.write(this.#begun + end);
    this.#begun = '';
  }

  #later(write: () => void): void {
    if (this.#held) this.#held.push(write);
    else write();
  }

  #turn(): void {
    if (!this.#spinner || this.#held || this.#isOpen || this.#footer) return;
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
