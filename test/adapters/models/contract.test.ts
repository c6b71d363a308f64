import { describeModel } from '../../suites/model.ts';
import { providers } from './providers.ts';

for (const provider of providers) {
  describeModel(provider, true);
  describeModel(provider, false);
}
