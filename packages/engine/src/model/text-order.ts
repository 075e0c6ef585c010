export { compareText } from '@bigfleet/base';
