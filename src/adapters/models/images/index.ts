/** Images made as small as a provider takes them. */
export type { ImageLimits } from './scale-images.ts';
export { scaleImages } from './scale-images.ts';
