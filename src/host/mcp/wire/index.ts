/** What is put around the SDK's handlers, and addresses of cards. */
export type { Around } from './around-handlers.ts';
export { aroundHandler } from './around-handlers.ts';
export { CARD_TYPE, cardUri, isCardUri, placeOfCard } from './card-uri.ts';
