/**
 * `node --import ./scripts/from-source.ts examples/remote/main.ts`: runs a program that imports `coxswain` with the sources
 * of this checkout, without a build or an installation.
 */
import { offerOwnPackage } from '../src/cli/workspace/own-package.ts';

offerOwnPackage();
