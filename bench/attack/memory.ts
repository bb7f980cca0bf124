import { residentBytes } from '../processes.ts'

const EVERY_MS = 100

/** Watches how much memory a process and its descendants have. @returns what ends the watch, and answers the most in bytes */
export function watchMemory(pid: number): () => number {
  let most = 0
  const look = () => {
    most = Math.max(most, residentBytes(pid).now)
  }
  look()
  const timer = setInterval(look, EVERY_MS)
  return () => {
    look()
    clearInterval(timer)
    return most
  }
}
