// device_energy.c: finds the energy counter and the sensors of an OpenCL device by its PCI address
#include "compute/device_energy.h"

#include <stdio.h>

enum { PCI_TEXT = 24 };

// cl_nv_device_attribute_query, which old headers lack.
enum { PCI_BUS_NV = 0x4008, PCI_SLOT_NV = 0x4009, PCI_DOMAIN_NV = 0x400a };

static bool read_number(const struct device_info *info, cl_device_info what, cl_uint *number)
{
    return clGetDeviceInfo(info->id, what, sizeof(*number), number, NULL) == CL_SUCCESS;
}

// Writes the device's address, "0000:01:00.0". False: the driver does not report it.
static bool find_pci(const struct device_info *info, char pci[PCI_TEXT])
{
    cl_device_pci_bus_info_khr address = {0};
    cl_uint slot = 0;
    bool found = clGetDeviceInfo(info->id, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof(address), &address, NULL) == CL_SUCCESS;
    if (!found && info->nv_arch > 0) {
        found = read_number(info, PCI_BUS_NV, &address.pci_bus) && read_number(info, PCI_SLOT_NV, &slot);
        if (!read_number(info, PCI_DOMAIN_NV, &address.pci_domain))
            address.pci_domain = 0;
        address.pci_device = slot >> 3;
        address.pci_function = slot & 7;
    }
    if (found)
        snprintf(pci, PCI_TEXT, "%04x:%02x:%02x.%x", address.pci_domain & 0xffff, address.pci_bus & 0xff,
                 address.pci_device & 0xff, address.pci_function & 7);
    return found;
}

// Describes the device to base. `pci` is room for its address, which the result borrows.
static struct energy_device identify(const struct device_info *info, char pci[PCI_TEXT])
{
    return (struct energy_device){
        .cpu = info->type & CL_DEVICE_TYPE_CPU,
        .nvidia = info->nv_arch > 0,
        .pci = find_pci(info, pci) ? pci : NULL,
    };
}

struct energy *device_energy_open(const struct device_info *info, char why[ENERGY_WHY])
{
    char pci[PCI_TEXT];
    const struct energy_device device = identify(info, pci);
    return energy_open(&device, why);
}

void device_sensors_read(const struct device_info *info, struct sensors *sensors)
{
    char pci[PCI_TEXT];
    const struct energy_device device = identify(info, pci);
    sensors_read(&device, sensors);
}
