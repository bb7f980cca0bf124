import type { SealFault } from './sealFaults.ts'

const part = (column: string, value: string, said = `${column} was changed after it was sealed`): SealFault => ({
  name: `another event.${column}: ${value}`,
  spoil: `UPDATE event SET ${column} = ${value} WHERE change_id = :change AND part = 0`,
  said: new RegExp(`^event :change/0: ${said}`, 'm'),
})

const head = (column: string, value: string, said: RegExp): SealFault => ({
  name: `another event_chain.${column}: ${value}`,
  spoil: `UPDATE event_chain SET ${column} = ${value} WHERE organization_id = 1`,
  said,
})

/** The change that made the first customer, whose seal has a digest. */
const OF_A_CUSTOMER = `(SELECT min(change_id) FROM event WHERE organization_id = 1 AND type = 'customer.created')`

/** Rows of the chain that are of one change, each of another one. */
export const PARTS: readonly SealFault[] = (
  [
    part('sequence', 'sequence + 1000'),
    part('sequence', 'NULL'),
    part('type', `'loan.closed'`),
    part('digest', `decode(repeat('00', 32), 'hex')`),
    part('marks', `decode('00', 'hex')`),
    part('marks', `''`),
    part('marks', 'set_byte(marks, 3, 255 - get_byte(marks, 3))'),
    part('hash', `decode(repeat('00', 32), 'hex')`),
    part('part', '7', 'is not there'),
    part('change_id', '-7', 'is not there'),
    part('organization_id', '2', 'is not there'),
    {
      name: 'an event removed',
      spoil: 'DELETE FROM event WHERE change_id = :change AND part = 0',
      said: /^event :change\/0: is not there: the change is in the trail, and has no seal/m,
    },
    {
      name: 'an event added to a change',
      spoil: `INSERT INTO event SELECT organization_id, change_id, 1, NULL, 'loan.closed', sealed_at, NULL, '', hash FROM event
      WHERE change_id = :change AND part = 0`,
      said: /^event :change\/1: does not follow from the part before/m,
    },
    {
      name: 'a row of the trail removed',
      spoil: 'DELETE FROM audit_entry WHERE id = :change',
      said: /^audit_entry :change: is not there, and it is sealed/m,
    },
    {
      name: 'the number of a row of the trail',
      spoil: 'UPDATE audit_entry SET id = -9 WHERE id = :change',
      said: /^audit_entry :change: is not there, and it is sealed/m,
    },
    {
      name: 'the organization of a row of the trail',
      spoil: 'UPDATE audit_entry SET organization_id = 2 WHERE id = :change',
      said: /^audit_entry :change: is not there, and it is sealed/m,
    },
  ] satisfies readonly SealFault[]
).map((fault) => ({ ...fault, place: fault.name }))

/** Rows of the chain itself: changed, removed, added, renumbered. */
export const CHAIN_FAULTS: readonly SealFault[] = [
  {
    name: 'another event.digest: NULL',
    spoil: `UPDATE event SET digest = NULL WHERE change_id = ${OF_A_CUSTOMER} AND part = 0`,
    said: /^event \d+\/0: digest was changed after it was sealed/m,
  },
  {
    name: 'two events that change their numbers',
    spoil: `UPDATE event SET sequence = -sequence WHERE sequence IN (3, 4) AND organization_id = 1;
      UPDATE event SET sequence = 7 + sequence WHERE sequence < 0 AND organization_id = 1`,
    said: /^event \d+\/0: sequence was changed after it was sealed/m,
  },
  {
    name: 'an event removed with its row of the trail',
    spoil: 'DELETE FROM event WHERE change_id = :change; DELETE FROM audit_entry WHERE id = :change',
    said: /^event \d+\/0: does not follow from the part before: a part was changed, removed or added/m,
  },
  {
    name: 'the last event of the chain removed',
    spoil:
      'DELETE FROM event e USING event_chain c WHERE c.organization_id = 1 AND e.organization_id = 1 AND e.change_id = c.change_id',
    said: /^event \d+\/0: is not there: the change is in the trail/m,
  },
  {
    name: 'what followed from a change removed',
    spoil: `DELETE FROM event WHERE organization_id = 1 AND part = 1`,
    said: /^event \d+\/0: sequence is \d+, and \d+ is the next/m,
  },
  {
    name: 'an event of no change added',
    spoil: `INSERT INTO event SELECT organization_id, -5, 0, NULL, type, sealed_at, digest, marks, hash FROM event
      WHERE change_id = :change AND part = 0`,
    said: /^audit_entry -5: is not there, and it is sealed/m,
  },
  {
    name: 'an event after the head added',
    spoil: `INSERT INTO event SELECT organization_id, 100000, 0, NULL, type, sealed_at, digest, marks, hash FROM event
      WHERE change_id = :change AND part = 0`,
    said: /^event 100000\/0: is after the head of the chain/m,
  },
  {
    name: 'a row of the trail added below the head',
    spoil: `INSERT INTO audit_entry (organization_id, id, at, action, entity, entity_id) OVERRIDING SYSTEM VALUE
      SELECT organization_id, -3, at, action, entity, entity_id FROM audit_entry WHERE id = :change`,
    said: /^event -3\/0: is not there: the change is in the trail, and has no seal/m,
  },
  ...['loan', 'customer', 'account', 'loan product'].map((entity) => ({
    name: `the id of a ${entity} that was made, in the trail`,
    spoil: `UPDATE audit_entry SET entity_id = entity_id || 'x' WHERE id =
      (SELECT min(id) FROM audit_entry WHERE entity = '${entity}' AND action = 'create')`,
    said: /^audit_entry \d+: entity_id is not what was sealed/m,
  })),
  head('change_id', 'change_id - 1', /^event \d+\/\d+: is after the head of the chain/m),
  head('change_id', '0', /^event \d+\/0: is after the head of the chain, change 0/m),
  head('change_id', 'change_id + 1', /^event_chain: change_id is \d+, and the last event is of change \d+/m),
  head('sequence', 'sequence + 1', /^event_chain: sequence is \d+, and the last event has \d+/m),
  head('hash', `decode(repeat('00', 32), 'hex')`, /^event_chain: hash is not that of the last event/m),
  head('key_id', `'0123456789abcdef'`, /^event_chain: was sealed with the secret 0123456789abcdef/m),
  {
    name: 'the head of the chain removed',
    spoil: 'DELETE FROM event_chain WHERE organization_id = 1',
    said: /^event \d+\/0: is after the head of the chain, change 0/m,
  },
]

const SET_AMOUNT = `UPDATE loan_entry SET amount = amount - 100000 WHERE id = :entry;
  UPDATE audit_entry SET change = jsonb_set(change::jsonb, '{posted,amount}', '"300000"')::json WHERE change #>> '{posted,id}' = ':entry'`

/** Changes in several places at once, so that the places agree. */
export const COHERENT_FAULTS: readonly SealFault[] = [
  {
    name: 'another amount, in the entry and in the trail, which is what the entry is compared with',
    spoil: SET_AMOUNT,
    said: /^audit_entry \d+: change is not what was sealed/m,
  },
  {
    name: 'another amount, in the entry and the trail, and digest and marks made for it without the secret',
    spoil: `${SET_AMOUNT}; UPDATE event SET digest = sha256('made'), marks = '' WHERE change_id =
      (SELECT id FROM audit_entry WHERE change #>> '{posted,id}' = ':entry')`,
    said: /^event \d+\/0: does not follow from the part before/m,
  },
  {
    name: 'an entry removed, with the trail, its key, its seal and the counts of the loan',
    spoil: `DELETE FROM event WHERE change_id = (SELECT id FROM audit_entry WHERE change #>> '{posted,id}' = ':chargedOff');
      DELETE FROM audit_entry WHERE change #>> '{posted,id}' = ':chargedOff';
      DELETE FROM loan_entry WHERE id = :chargedOff;
      UPDATE loan SET version = version - 1, entry_count = 0, charged_off_on = NULL, carried_forward = NULL,
        updated_at = created_at WHERE id = (SELECT loan_id FROM whole.loan_entry WHERE id = :chargedOff)`,
    said: /^event \d+\/0: does not follow from the part before/m,
  },
  {
    name: 'the words of a customer, in the row and in the trail',
    spoil: `UPDATE audit_entry SET after = jsonb_set(after, '{words}', '"neema"')
        WHERE after ->> 'words' = (SELECT words FROM customer WHERE external_id = 'asha');
      UPDATE customer SET external_id = 'neema', words = 'neema' WHERE external_id = 'asha'`,
    said: /^customer \d+: words is not what change \d+ sealed/m,
  },
  {
    name: 'the reversal of an entry, in the row and in the trail',
    spoil: `UPDATE loan_entry SET reversed_at = reversed_at + interval '1 s' WHERE id = :reversed;
      UPDATE audit_entry SET at = at + interval '1 s' WHERE change #>> '{reversed,id}' = ':reversed'`,
    said: /^audit_entry \d+: at is not what was sealed/m,
  },
  {
    name: 'a role of an account, in the row and in the trail',
    spoil: `UPDATE account SET roles = '{USER,ADMIN}' WHERE email = 'partner@example.com';
      UPDATE audit_entry SET after = jsonb_set(after, '{roles}', '["USER", "ADMIN"]') WHERE after ->> 'email' = 'partner@example.com'`,
    said: /^account \d+: roles is not what change \d+ sealed/m,
  },
  {
    name: 'the author of a change, in the entry and in the trail',
    spoil: `UPDATE loan_entry SET account_id = 2 WHERE id = :entry;
      UPDATE audit_entry SET account_id = 2 WHERE change #>> '{posted,id}' = ':entry'`,
    said: /^audit_entry \d+: account_id is not what was sealed/m,
  },
  {
    name: 'the due date of a loan, in the loan and its schedule: the loan',
    spoil: `UPDATE loan SET due_on = due_on + 1, due_at = due_at + interval '1 day' WHERE id = :plain;
      UPDATE loan_period SET due_date = due_date + 1 WHERE loan_id = :plain AND period = 6`,
    said: /^loan :plain: due_on is not what change \d+ sealed/m,
  },
  {
    name: 'the due date of a loan, in the loan and its schedule: the line',
    spoil: `UPDATE loan SET due_on = due_on + 1, due_at = due_at + interval '1 day' WHERE id = :plain;
      UPDATE loan_period SET due_date = due_date + 1 WHERE loan_id = :plain AND period = 6`,
    said: /^loan_period :plain\/6: due_date is not what change \d+ sealed/m,
  },
  {
    name: 'all changes moved to another organization number',
    spoil: 'UPDATE event SET organization_id = 3 WHERE organization_id = 1',
    said: /^event \d+\/0: is not there: the change is in the trail, and has no seal/m,
  },
]
