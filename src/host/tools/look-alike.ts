/** Letters of other scripts that read like Latin ones, and those that they read like. */
const others = 'аеорсухіјѕԁԛԝһкмтвнАВЕКМНОРСТУХІЈЅαοριυνκΑΒΕΖΗΙΚΜΝΟΡΤΥΧ';
const latin = 'aeopcyxijsdqwhkmtbhABEKMHOPCTYXIJSaopiuvkABEZHIKMNOPTYX';
const plainOf = new Map([...others].map((letter, index) => [letter, latin[index] ?? letter]));

const ascii = /^[\x20-\x7e]*$/;

/**
 * Why a tool's name may be taken for another one by a person, or in a rule; undefined: it is plain. Names are compared
 * as they are: this is a word to whoever sets a host up. `others` are offered beside it.
 */
export function whyLookAlike(name: string, others: Iterable<string> = []): string | undefined {
  if (ascii.test(name)) return undefined;
  if (/[\p{Cf}\p{Cc}\p{Zl}\p{Zp}]/u.test(name)) return 'it has characters that nobody sees';
  const plain = plainly(name);
  // A word of one script that only shares some letters with Latin is plain.
  if (name.normalize('NFKC') !== name || ascii.test(plain)) {
    return `it reads like ${JSON.stringify(ascii.test(plain) ? plain : name.normalize('NFKC'))}, which is another name`;
  }
  for (const other of others) {
    if (other !== name && !ascii.test(other) && plainly(other) === plain)
      return `it reads like ${JSON.stringify(other)}, which is offered beside it`;
  }
  return undefined;
}

function plainly(name: string): string {
  return [...name.normalize('NFKC')].map((letter) => plainOf.get(letter) ?? letter).join('');
}
