/** Letters of other scripts that read like Latin ones, and those that they read like. */
const others = 'аеорсухіјѕԁԛԝһкмтвнАВЕКМНОРСТУХІЈЅαοριυνκΑΒΕΖΗΙΚΜΝΟΡΤΥΧ';
const latin = 'aeopcyxijsdqwhkmtbhABEKMHOPCTYXIJSaopiuvkABEZHIKMNOPTYX';
const plainOf = new Map([...others].map((letter, index) => [letter, latin[index] ?? letter]));

/**
 * Why a tool's name may be taken for another one by a person, or in a rule; undefined: it is plain. Names are compared
 * as they are: this is a word to whoever sets a host up.
 */
export function whyLookAlike(name: string): string | undefined {
  if (/^[\x20-\x7e]*$/.test(name)) return undefined;
  if (/[\p{Cf}\p{Cc}\p{Zl}\p{Zp}]/u.test(name)) return 'it has characters that nobody sees';
  const folded = name.normalize('NFKC');
  const plain = [...folded].map((letter) => plainOf.get(letter) ?? letter).join('');
  // A word of one script that only shares some letters with Latin is plain.
  const isOther = folded !== name.normalize('NFC') || /^[\x20-\x7e]*$/.test(plain);
  return isOther ? `it reads like ${JSON.stringify(plain)}, which is another name` : undefined;
}
