/**
 * Networks of data centres, from which programs call and hardly any people: large hosting companies and clouds by
 * their number (ASN), as RIPE, ARIN and APNIC register them. Carriers and companies' own networks are not here, nor are
 * relays that browsers use for their visitors, such as iCloud Private Relay (AS36183, AS13335) and Google's.
 */
export const DATA_CENTRES: ReadonlySet<number> = new Set([
  ...[16509, 14618], // Amazon
  ...[396982], // Google Cloud
  ...[8075], // Microsoft
  ...[31898], // Oracle
  ...[45102, 37963], // Alibaba
  ...[132203, 45090], // Tencent
  ...[136907, 55990], // Huawei Cloud
  ...[14061], // DigitalOcean
  ...[63949], // Akamai Connected Cloud (Linode)
  ...[20473], // Vultr
  ...[16276], // OVH
  ...[24940, 213230, 212317], // Hetzner
  ...[12876], // Scaleway
  ...[51167], // Contabo
  ...[60781, 28753, 30633, 59253], // Leaseweb
  ...[8560, 54548], // IONOS
  ...[47583], // Hostinger
  ...[9009], // M247
  ...[62240], // Clouvider
  ...[60068, 212238], // Datacamp
  ...[53667], // FranTech
  ...[36352], // HostPapa (ColoCrossing)
  ...[40021], // Nubes (Contabo in the United States)
  ...[46606], // Unified Layer
  ...[26496], // GoDaddy
  ...[32244], // Liquid Web
  ...[19871], // Network Solutions
  ...[33070, 27357, 19994], // Rackspace
  ...[36351], // IBM Cloud
  ...[29802], // Hivelocity
  ...[8100], // QuadraNet
  ...[46844], // Sharktech
  ...[54290], // Hostwinds
  ...[22612], // Namecheap
  ...[202053], // UpCloud
  ...[61317], // Hivelocity (Digital Energy)
  ...[49981], // WorldStream
  ...[50673], // Serverius
  ...[44477, 210644], // Stark Industries, Aeza
  ...[200019], // AlexHost
])
