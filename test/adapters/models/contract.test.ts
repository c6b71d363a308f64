import { describeModel } from '../../suites/model.ts';
import { everyProvider as providers } from './ai-sdk-providers.ts';

for (const provider of providers) {
  describeModel(provider, true);
  describeModel(provider, false);
}
