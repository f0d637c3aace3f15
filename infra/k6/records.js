// Load on the function `records` from outside, by k6 (https://k6.io): what a client of the HTTP API sees, network and platform included. The
// comparison measures beside the store instead.
//
//   k6 run infra/k6/records.js        with URL, KEY and, on Azure, GATE in the environment, as README.md beside this file says
import http from 'k6/http';
import { check, fail } from 'k6';
import { Counter } from 'k6/metrics';

const {
  URL,
  KEY,
  GATE = '',
  RATE = '50',
  DURATION = '30s',
  RECORDS = '1000',
  WRITES = '0.05',
  LOOP = 'open',
  VUS = '16',
} = __ENV;
if (!URL || !KEY) throw new Error('URL and KEY are missing: npm run dev prints both');

const TABLE = `k6-${__ENV.RUN || 'load'}`;
const PAGE = 500;
const headers = Object.assign(
  { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' },
  // `name: value`, as curl takes it: the header that the platform's own gate asks for.
  GATE === '' ? {} : { [GATE.slice(0, GATE.indexOf(':'))]: GATE.slice(GATE.indexOf(':') + 1).trim() },
);

/** 429 and 503: slow down; counted apart from failures of the program. */
const refused = new Counter('stowage_refused');

/** Open loop: iterations begin at their rate whatever was answered, and those that k6 could not begin are counted as dropped. */
const LOOPS = {
  open: {
    executor: 'constant-arrival-rate',
    rate: Number(RATE),
    timeUnit: '1s',
    duration: DURATION,
    preAllocatedVUs: Number(VUS),
    maxVUs: 8 * Number(VUS),
  },
  closed: { executor: 'constant-vus', vus: Number(VUS), duration: DURATION },
};

export const options = {
  scenarios: { [LOOP]: LOOPS[LOOP] },
  thresholds: { checks: ['rate>0.999'], dropped_iterations: ['count<1'] },
  summaryTrendStats: ['avg', 'med', 'p(95)', 'p(99)', 'p(99.9)', 'max', 'count'],
};

export function setup() {
  const made = http.put(`${URL}/v1/tables/${TABLE}`, '{"order":"key"}', { headers });
  if (made.status !== 200 && made.status !== 201) fail(`the table was not made: ${made.status} ${made.body}`);
  for (let from = 0; from < Number(RECORDS); from += PAGE) {
    const operations = [];
    for (let at = from; at < Math.min(from + PAGE, Number(RECORDS)); at += 1)
      operations.push({ op: 'put', key: keyOf(at), value: valueOf(at) });
    const loaded = http.post(`${URL}/v1/tables/${TABLE}/batch`, JSON.stringify({ operations }), { headers });
    if (loaded.status !== 200) fail(`the records were not loaded: ${loaded.status} ${loaded.body}`);
  }
}

export default function () {
  const at = Math.floor(Math.random() * Number(RECORDS));
  const isWrite = Math.random() < Number(WRITES);
  const url = `${URL}/v1/tables/${TABLE}/records/${keyOf(at)}`;
  const tags = { name: isWrite ? 'put' : 'get' };
  const reply = isWrite
    ? http.put(url, JSON.stringify(valueOf(at)), { headers, tags })
    : http.get(url, { headers, tags });
  if (reply.status === 429 || reply.status === 503) refused.add(1);
  check(reply, { 'was answered with success': ({ status }) => status >= 200 && status < 300 });
}

export function teardown() {
  http.del(`${URL}/v1/tables/${TABLE}`, null, { headers });
}

function keyOf(at) {
  return `user${String(at).padStart(8, '0')}`;
}

function valueOf(at) {
  return { number: at, name: `Somebody ${at}`, text: 'x'.repeat(400) };
}
