import { BlockList, isIP } from 'node:net';

/** Addresses of no public network: of this machine, of private networks, of clouds' metadata, reserved, multicast. */
const reserved = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  reserved.addSubnet(network, bits, 'ipv4');
}

/** Of IPv6 the public ones are these, without what stands for an address of IPv4 or is for examples. */
const unicast = new BlockList();
unicast.addSubnet('2000::', 3, 'ipv6');
const within = new BlockList();
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  within.addSubnet(network, bits, 'ipv6');
}

/** Whether an IP address is one of the public internet. */
export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/^\[|\]$/g, '');
  const version = isIP(plain);
  if (version === 4) return !reserved.check(plain, 'ipv4');
  return version === 6 && unicast.check(plain, 'ipv6') && !within.check(plain, 'ipv6');
}
