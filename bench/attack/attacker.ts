import { setPriority } from 'node:os'
import { serve } from '../peer.ts'
import { type Aim, FLOODS } from './floods.ts'

/** The attacker, in a process of its own. It is elsewhere in truth, so it takes what the others leave of the cores. */
const duties = {
  begin: () => setPriority(19),
  flood: ({ name, aim }: { name: string; aim: Aim }) => FLOODS[name]!.run(aim),
}

export type AttackerDuties = typeof duties

serve(duties)
