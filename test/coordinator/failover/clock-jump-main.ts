// Loaded into a coordinator before it starts (node --import): SIGUSR2 moves the wall clock of that
// process an hour ahead, each time, as a wrong time server would. The monotonic clock stays.

const HOUR_MS = 3_600_000;
const wallClock = Date.now;
let aheadMs = 0;

Date.now = () => wallClock() + aheadMs;
process.on('SIGUSR2', () => {
  aheadMs += HOUR_MS;
});
