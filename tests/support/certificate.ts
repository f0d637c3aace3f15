// A self-signed certificate for 127.0.0.1 and localhost, as DER by hand (RFC 5280, 4.1; X.690).
import { generateKeyPairSync, sign } from 'node:crypto';

export interface Certificate {
  /** Both in PEM. */
  readonly cert: string;
  readonly key: string;
}

const DAY_MS = 86_400_000;
const [BIT_STRING, OCTET_STRING, SEQUENCE, SET] = [0x03, 0x04, 0x30, 0x31];
const [VERSION, EXTENSIONS, DNS_NAME, IP_ADDRESS] = [0xa0, 0xa3, 0x82, 0x87];
const ECDSA_WITH_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex');
const COMMON_NAME = Buffer.from('0603550403', 'hex');
const SUBJECT_ALT_NAME = Buffer.from('0603551d11', 'hex');

/** For `localhost`, and for these IPv4 addresses. */
export function selfSignedCertificate(addresses = [[127, 0, 0, 1]]): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(SEQUENCE, ECDSA_WITH_SHA256);
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(0x0c, Buffer.from('localhost')))));
  const ofAddresses = addresses.map((address) => der(IP_ADDRESS, Buffer.from(address)));
  const names = der(SEQUENCE, der(DNS_NAME, Buffer.from('localhost')), ...ofAddresses);
  const content = der(
    SEQUENCE,
    der(VERSION, integer(2)),
    integer(1),
    algorithm,
    name,
    der(SEQUENCE, time(-DAY_MS), time(DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(EXTENSIONS, der(SEQUENCE, der(SEQUENCE, SUBJECT_ALT_NAME, der(OCTET_STRING, names)))),
  );
  const signature = der(BIT_STRING, Buffer.from([0]), sign('sha256', content, privateKey));
  const base64 = der(SEQUENCE, content, algorithm, signature).toString('base64').replaceAll(/.{64}/g, '$&\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** A value with its tag and length. */
function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function integer(value: number): Buffer {
  return der(0x02, Buffer.from([value]));
}

/** A time so many milliseconds from now. */
function time(fromNowMs: number): Buffer {
  const digits = new Date(Date.now() + fromNowMs).toISOString().replaceAll(/\D/g, '');
  return der(0x17, Buffer.from(`${digits.slice(2, 14)}Z`));
}
