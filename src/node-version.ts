/** As `engines` in package.json has it. */
export const MINIMUM_NODE = '22.13.0';

/** Why a Node of this version cannot run the command; undefined if it can. */
export function nodeVersionFault(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = MINIMUM_NODE.split('.').map(Number);
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return undefined;
  return (
    `this is Node ${version}, and ${wantedMajor}.${wantedMinor} or newer is needed; ` +
    'install it from https://nodejs.org or with your version manager (for instance "nvm install 24")'
  );
}
