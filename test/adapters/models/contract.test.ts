import { describeModel } from '../../contract/model.ts';
import { providers } from './providers.ts';

for (const provider of providers) {
  describeModel(provider, true);
  describeModel(provider, false);
}
