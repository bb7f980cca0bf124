import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { serve } from '../peer.ts'
import { type Aim, FLOODS } from './floods.ts'

const LOWEST_PRIORITY = 19

/** Takes what the others leave of the cores: an attacker is another machine in truth. */
function yieldToAll(): void {
  setPriority(LOWEST_PRIORITY)
  try {
    // Linux shares the cores among sessions first, and then priorities count within one: this one has its own.
    writeFileSync('/proc/self/autogroup', String(LOWEST_PRIORITY))
  } catch {
    // A system without such groups: there priorities count among all processes.
  }
}

/** The duties of the attacker, which is a process of its own. */
const duties = {
  begin: yieldToAll,
  flood: ({ name, aim }: { name: string; aim: Aim }) => FLOODS[name]!.run(aim),
}

export type AttackerDuties = typeof duties

serve(duties)
