/** Of this package, as peers are told. */
export const PACKAGE_VERSION = '0.1.0';
